// One experiment through all the real processes: what arrives, and in which order.
#include <gtest/gtest.h>

#include "faults/support/worker_fixture.h"

namespace attnscope::testing_support {
namespace {

class WholePath : public WorkerTest {};

TEST_F(WholePath, HelloTellsDevicesAndVersions) {
  const protocol::HelloReply hello = client().hello();
  EXPECT_EQ(hello.pid, supervisor());
  EXPECT_FALSE(client().version.empty());
  EXPECT_EQ(hello.versions.app, client().version);
  ASSERT_FALSE(hello.devices.empty());
  EXPECT_EQ(hello.devices.front().id, "emulated:l4");
}

TEST_F(WholePath, ARunDeliversEveryPart) {
  const Kernel tiled = shipped_kernel("kernels/02_tiled.json");
  client().offer(tiled);
  Experiment experiment = experiment_of(tiled, {{"NUM_WARPS", 8}});
  experiment.problem.seq_q = experiment.problem.seq_k = 128;
  const ViewRequest view{.experiment_hash = hash_of(experiment), .map = MapKind::error, .head = 3};
  const Answer answer = client().run_and_wait(experiment, {}, view);
  ASSERT_FALSE(answer.failure) << answer.failure->message;
  EXPECT_EQ(answer.needs, 1);
  const Observation& o = answer.observation;
  EXPECT_EQ(o.device, "emulated:l4");
  ASSERT_TRUE(o.variant && o.occupancy && o.counters && o.verdict);
  EXPECT_EQ(o.variant->arch, 89);
  EXPECT_EQ(o.variant->static_shared_bytes, 36928);
  EXPECT_EQ(o.counters->emulated_ctas, 4 * 8);
  EXPECT_EQ(o.counters->total_ctas, 4 * 8);
  EXPECT_EQ(o.verdict->state, VerdictState::correct) << o.verdict->reason;
  EXPECT_LT(o.verdict->rel_frobenius, 5e-4);
  ASSERT_TRUE(o.timing && o.tflops);
  EXPECT_EQ(o.timing->kind, FigureKind::modelled);
  EXPECT_GT(o.timing->p50, 0);
  EXPECT_GT(*o.tflops, 0);
  ASSERT_FALSE(answer.tiles.empty());
  EXPECT_EQ(answer.tiles.back().height, 128);
  EXPECT_EQ(answer.tiles.back().width, 64);
  EXPECT_FALSE(o.failure);

  // The same again: already compiled, and the kernel's content is known.
  const Answer again = client().run_and_wait(experiment);
  ASSERT_FALSE(again.failure) << again.failure->message;
  EXPECT_EQ(again.needs, 0);
  EXPECT_TRUE(again.observation.variant->cached);
  EXPECT_EQ(again.observation.variant->code_hash, o.variant->code_hash);
  EXPECT_EQ(again.observation.counters, o.counters);
}

TEST_F(WholePath, AMapOfAFinishedRun) {
  const Kernel minimal = shipped_kernel("kernels/01_minimal.json");
  client().offer(minimal);
  Experiment experiment = experiment_of(minimal);
  experiment.problem.heads = experiment.problem.kv_heads = 2;
  experiment.problem.seq_q = experiment.problem.seq_k = 64;
  const Answer answer = client().run_and_wait(experiment);
  ASSERT_FALSE(answer.failure) << answer.failure->message;
  const ViewRequest view{
      .experiment_hash = hash_of(experiment), .map = MapKind::output, .head = 1, .width = 16, .height = 8};
  const Answer& map = client().wait(client().send(protocol::View{0, view}));
  ASSERT_FALSE(map.failure) << map.failure->message;
  ASSERT_EQ(map.tiles.size(), 1u);
  EXPECT_EQ(map.tiles[0].request, view);
  EXPECT_EQ(map.tiles[0].values.size(), 16u * 8u);

  ViewRequest unknown = view;
  unknown.experiment_hash = std::string(32, '0');
  const Answer& refused = client().wait(client().send(protocol::View{0, unknown}));
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::device);
}

TEST_F(WholePath, AWatchBringsTheOccupancyAndItsReportOnly) {
  const Kernel tiled = shipped_kernel("kernels/02_tiled.json");
  client().offer(tiled);
  const Answer& answer = client().wait(client().send(protocol::Watch{0, experiment_of(tiled), {}}));
  ASSERT_FALSE(answer.failure) << answer.failure->message;
  EXPECT_EQ(answer.observation.occupancy->ctas_per_sm, 2);
  EXPECT_EQ(answer.observation.occupancy->resident_ctas, 116);
  EXPECT_TRUE(answer.observation.watch);
  EXPECT_FALSE(answer.observation.counters);
  EXPECT_FALSE(answer.observation.verdict);
}

TEST_F(WholePath, StaticTilesThatDoNotFitNameTheWayOut) {
  const Kernel tiled = shipped_kernel("kernels/02_tiled.json");
  client().offer(tiled);
  const Answer refused = client().run_and_wait(experiment_of(tiled, {{"BLOCK_M", 64}}));
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::limits);
  EXPECT_NE(refused.failure->message.find("57,376"), std::string::npos) << refused.failure->message;
  EXPECT_NE(refused.failure->message.find("49,152"), std::string::npos) << refused.failure->message;
  EXPECT_NE((refused.failure->message + refused.failure->hint).find("dynamic"), std::string::npos)
      << refused.failure->hint;
  EXPECT_EQ(refused.observation.failure, refused.failure);

  Experiment dynamic = experiment_of(tiled, {{"BLOCK_M", 64}, {"SHARED", 1}});
  dynamic.problem.seq_q = dynamic.problem.seq_k = 128;
  const Answer fits = client().run_and_wait(dynamic);
  ASSERT_FALSE(fits.failure) << fits.failure->message;
  EXPECT_EQ(fits.observation.variant->dynamic_shared_bytes, 57376);
  EXPECT_EQ(fits.observation.verdict->state, VerdictState::correct);
}

TEST_F(WholePath, AShareOfTheGridIsCountedAsSuch) {
  const Kernel tiled = shipped_kernel("kernels/02_tiled.json");
  client().offer(tiled);
  Experiment experiment = experiment_of(tiled);
  experiment.measure.sampled_share = 0.25;
  const Answer answer = client().run_and_wait(experiment);
  ASSERT_FALSE(answer.failure) << answer.failure->message;
  EXPECT_EQ(answer.observation.counters->emulated_ctas, 32);
  EXPECT_EQ(answer.observation.counters->total_ctas, 128);
  EXPECT_DOUBLE_EQ(answer.observation.counters->sampled_fraction, 0.25);
  EXPECT_EQ(answer.observation.verdict->state, VerdictState::correct) << answer.observation.verdict->reason;
}

}  // namespace
}  // namespace attnscope::testing_support
