#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "fake_bench.h"

namespace attnscope::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Bench, PassesAlternateSoThatADriftFallsOnAll) {
  FakeDevice device({100, 100, 100});
  const BenchPlan plan = plan_of(false, {{"a", false}, {"b", false}, {"c", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 3u * 13);  // the first pass warms up
  for (size_t pass = 0; pass < 13; ++pass)
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(device.asked[3 * pass + i].second, pass % 2 ? 2 - i : i);
  // By the 39th run the clock has drifted by 8 %, and equal kernels are still a tie.
  const BenchReport report = report_of(plan, state, "today");
  ASSERT_EQ(report.rows[0].cells[0].ratios.size(), 1u);
  EXPECT_TRUE(report.rows[0].cells[0].ratios[0].tie())
      << ratio_text(report.rows[0].cells[0].ratios[0], FigureKind::measured);
  EXPECT_NEAR(report.rows[0].cells[0].ratios[0].ratio, 1, 0.005);
}

TEST(Bench, ARatioIsThePeersTimeToOurs) {
  FakeDevice device({50, 65});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "today");
  const Ratio* ratio = ratio_to(report.rows[0].cells[0], 1);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->ratio, 1.3, 0.001);
  ASSERT_TRUE(ratio->interval);
  EXPECT_TRUE(ratio->interval->contains(1.3));
  EXPECT_FALSE(ratio->tie());
  EXPECT_TRUE(report.rows[0].cells[1].ratios.empty());  // a peer is not compared with itself
  EXPECT_EQ(report.rows[0].cells[0].samples, 12 * 24);
  EXPECT_NEAR(report.rows[0].cells[0].tflops, Problem{}.flops() / 50e6, 0.01);
  ASSERT_TRUE(report.rows[0].cells[0].interval);
  EXPECT_TRUE(report.rows[0].cells[0].interval->contains(50));
  // The samples of one run are closer together than separate runs are.
  EXPECT_NEAR(report.rows[0].cells[0].interval->half_width(), 50 * measure::kBetweenRuns, 0.002);
  EXPECT_THAT(as_table(report), HasSubstr("measured on NVIDIA L4"));
}

TEST(Bench, APeerCountsAnywhereInTheList) {
  FakeDevice device({65, 50, 130});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"peer", true}, {"ours", false}, {"slow peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "today");
  const Ratio *to_first = ratio_to(report.rows[0].cells[1], 0), *to_last = ratio_to(report.rows[0].cells[1], 2);
  ASSERT_TRUE(to_first && to_last);
  EXPECT_NEAR(to_first->ratio, 1.3, 0.001);
  EXPECT_NEAR(to_last->ratio, 2.6, 0.002);
  EXPECT_EQ(best_peer(report, report.rows[0]), 0u);
}

TEST(Bench, APassThatGaveNoSamplesIsNotCompared) {
  FakeDevice device({50, 65});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const auto ratio = [&] { return *ratio_to(report_of(plan, state, "today").rows[0].cells[0], 1); };
  const size_t passes = state.taken[0][0].blocks.size();
  ASSERT_GE(passes, size_t{measure::kFewestBlocks});
  for (size_t pass = 0; pass + measure::kFewestBlocks < passes; ++pass) state.taken[0][0].blocks[pass] = {{}};
  EXPECT_TRUE(ratio().interval) << "as many are left as it takes";
  EXPECT_NEAR(ratio().ratio, 1.3, 0.001);
  state.taken[0][1].blocks.back() = {{}};
  EXPECT_FALSE(ratio().interval) << "one less";
}

TEST(Bench, ModelledTimesComeOnceAndHaveNoInterval) {
  FakeDevice device({50, 100}, true);
  const BenchPlan plan = plan_of(true, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 2u);
  const BenchReport report = report_of(plan, state, "today");
  const Cell& cell = report.rows[0].cells[0];
  EXPECT_EQ(cell.kind, FigureKind::modelled);
  EXPECT_FALSE(cell.interval);
  ASSERT_EQ(cell.ratios.size(), 1u);
  EXPECT_FALSE(cell.ratios[0].interval);
  EXPECT_FALSE(cell.ratios[0].tie());
  for (const std::string& text : {as_table(report), as_markdown(report), as_svg(report)}) {
    EXPECT_THAT(text, HasSubstr("modelled"));
    EXPECT_THAT(text, Not(HasSubstr("measured on")));
  }
  EXPECT_THAT(as_svg(report), HasSubstr("<path"));         // a hollow diamond
  EXPECT_THAT(as_svg(report), Not(HasSubstr("<circle")));  // and no dot
}

TEST(Bench, WhoCannotDoItIsAskedOnceAndSaysWhy) {
  FakeDevice device({50, 60, 70});
  device.refuses[1] = Failure{Stage::limits, "asks 57,376 B of static shared memory\nand more", "Set SHARED."};
  device.refuses[2] = Failure{Stage::device, "worker torch is not available", "pip install torch"};
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"big", false}, {"torch", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 13u + 2);
  const BenchReport report = report_of(plan, state, "today");
  EXPECT_EQ(report.rows[0].cells[1].state, CellState::not_applicable);
  EXPECT_EQ(report.rows[0].cells[1].reason, "does not fit: asks 57,376 B of static shared memory");
  EXPECT_THAT(report.rows[0].cells[2].reason, HasSubstr("pip install torch"));
  EXPECT_TRUE(report.rows[0].cells[0].ratios.empty());
  EXPECT_FALSE(best_peer(report, report.rows[0]));
}

TEST(Bench, ALaunchThatOutlastsPassesComesOnceAndHasNoInterval) {
  FakeDevice device({50, 60, 400000});  // us; a pass has 100 ms
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}, {"slow", false}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 2u * 13 + 1);
  auto again = state_from_json(to_json(state), plan, "state.json");
  ASSERT_TRUE(again) << again.error().message;
  const BenchReport report = report_of(plan, *again, "today");
  const Cell& slow = report.rows[0].cells[2];
  EXPECT_EQ(slow.state, CellState::timed);
  EXPECT_NEAR(slow.p50, 400000, 5000);
  EXPECT_EQ(slow.samples, 24);
  EXPECT_FALSE(slow.interval);
  ASSERT_EQ(slow.ratios.size(), 1u);
  EXPECT_FALSE(slow.ratios[0].interval);
  EXPECT_FALSE(slow.ratios[0].tie());
  EXPECT_NEAR(slow.ratios[0].ratio, 60.0 / 400000, 1e-5);
  EXPECT_TRUE(report.rows[0].cells[0].ratios[0].interval);
  for (const std::string& text : {as_table(report), as_markdown(report), as_svg(report)}) {
    EXPECT_THAT(text, HasSubstr("one pass"));
    EXPECT_THAT(text, Not(HasSubstr("modelled,")));
  }
}

TEST(Bench, IsSlowFromThreePassesOn) {
  for (const auto& [us, runs] : {std::pair(299000.0, 13u), {301000.0, 1u}}) {  // a pass has 100 ms
    FakeDevice device({us});
    device.drift = 0;
    BenchState state;
    run_bench(plan_of(false, {{"ours", false}}), device.calls(), state);
    EXPECT_EQ(device.asked.size(), runs) << us;
  }
}

TEST(Bench, APassKeepsAtMost250Samples) {
  for (const auto& [taken, kept] : {std::pair<size_t, size_t>{250, 250}, {251, 126}}) {  // every second one
    FakeDevice device({50});
    BenchCalls calls = device.calls();
    calls.run = [&](size_t row, size_t entry) {
      Observation o = device.run(row, entry);
      o.timing->sampling->rounds.assign(1, std::vector<double>(taken, 50));
      return o;
    };
    BenchState state;
    run_bench(plan_of(false, {{"ours", false}}), calls, state);
    EXPECT_EQ(measure::pooled(state.taken[0][0].blocks[0]).size(), kept);
  }
}

TEST(Bench, TwoPassesHaveAnIntervalAndOneHasNone) {
  FakeDevice device({50});
  const BenchPlan plan = plan_of(false, {{"ours", false}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const auto has_interval = [&](size_t passes) {
    BenchState some = state;
    some.taken[0][0].blocks.resize(passes);
    return report_of(plan, some, "d").rows[0].cells[0].interval.has_value();
  };
  EXPECT_TRUE(has_interval(2));
  EXPECT_FALSE(has_interval(1));
}

TEST(Bench, AStateIsOfThePlanThatItBeganWith) {
  BenchPlan plan = plan_of(false, {{"ours", false}});
  const std::string hash = plan_hash(plan);
  plan.head.date = "tomorrow";
  EXPECT_EQ(plan_hash(plan), hash);
  plan.block_ms += 1;
  EXPECT_NE(plan_hash(plan), hash);
  plan.block_ms -= 1, plan.blocks += 1;
  EXPECT_NE(plan_hash(plan), hash);
  plan.blocks -= 1, plan.head.rows[0].cells[0].options.fmad = false;
  EXPECT_NE(plan_hash(plan), hash);
  plan.head.rows[0].cells[0].options = {}, plan.head.entries[0].kernel_hash = "edited";
  EXPECT_NE(plan_hash(plan), hash);
}

TEST(Bench, AStateOfTheUsualOptionsIsContinuedByEveryVersion) {
  EXPECT_EQ(plan_hash(plan_of(false, {{"ours", false}, {"peer", true}}, 2)),
            "18e707bf125a7d57478e1086916f4b21");  // before cells had options
}

TEST(Bench, ACellHasTheOptionsOfItsRun) {
  FakeDevice device({50});
  BenchCalls calls = device.calls();
  calls.run = [&](size_t row, size_t entry) {
    Observation o = device.run(row, entry);
    o.experiment.config.options.maxrregcount = 64;
    return o;
  };
  calls.config_text = [](size_t, const Config& config) { return std::to_string(config.options.maxrregcount); };
  const BenchPlan plan = plan_of(false, {{"ours", false}});
  BenchState state;
  run_bench(plan, calls, state);
  const auto read = report_from_json(to_json(report_of(plan, state, "d")), "report.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->rows[0].cells[0].options.maxrregcount, 64);
  EXPECT_EQ(read->rows[0].cells[0].config, "64");
}

TEST(Bench, AFailureInALaterPassIsNoTime) {
  FakeDevice device({50, 60});
  device.fails_at[0] = 4;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "today");
  EXPECT_EQ(report.rows[0].cells[0].state, CellState::not_applicable);
  EXPECT_EQ(report.rows[0].cells[0].reason, "failed: it crashed");
  EXPECT_EQ(report.rows[0].cells[1].state, CellState::timed);
}

TEST(Bench, ContinuesWhereItEnded) {
  FakeDevice whole({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}}, 2);
  std::vector<BenchState> saved;
  BenchState state;
  run_bench(plan, whole.calls(&saved), state);
  ASSERT_EQ(saved.size(), 26u);

  auto kept = state_from_json(to_json(saved[16]), plan, "state.json");  // 13 of the first row, 4 of the second
  ASSERT_TRUE(kept) << kept.error().message;
  FakeDevice rest({50, 60});
  run_bench(plan, rest.calls(), *kept);
  EXPECT_EQ(rest.asked.size(), 2u * 9);
  EXPECT_THAT(std::vector(rest.asked.begin(), rest.asked.begin() + 2),
              ElementsAre(std::pair<size_t, size_t>(1, 0), std::pair<size_t, size_t>(1, 1)));
  EXPECT_EQ(to_json(report_of(plan, *kept, "d")).at("rows")[0], to_json(report_of(plan, state, "d")).at("rows")[0]);

  BenchPlan other = plan;
  other.head.entries[0].kernel_hash = "edited";
  EXPECT_FALSE(state_from_json(to_json(saved[16]), other, "state.json"));
  EXPECT_FALSE(state_from_json(Json{{"plan", plan_hash(plan)}}, plan, "state.json"));
  for (const char* place : {"/blocks/0/0/0/0/0", "/blocks/0/0/0/0", "/blocks/0/0/0", "/blocks/0/0", "/blocks/0",
                            "/blocks", "/passes/0", "/passes", "/first"}) {
    Json damaged = to_json(saved[16]);
    damaged[Json::json_pointer(place)] = "text";
    EXPECT_FALSE(state_from_json(damaged, plan, "state.json")) << place;
  }
}

TEST(Bench, EndedEarlyItSaysWhatItDidNotReach) {
  FakeDevice device({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}}, 2);
  BenchState state;
  BenchCalls calls = device.calls();
  calls.enough = [&] { return device.asked.size() >= 25; };  // in the middle of the first row's last pass
  EXPECT_FALSE(run_bench(plan, calls, state));
  EXPECT_THAT(state.passes, ElementsAre(12, 0));
  const BenchReport report = report_of(plan, state, "today");
  EXPECT_TRUE(report.rows[0].cells[0].ratios[0].interval);
  EXPECT_EQ(report.rows[1].cells[0].state, CellState::not_applicable);
  EXPECT_THAT(report.rows[1].cells[0].reason, HasSubstr("ended before"));
  calls.enough = nullptr;
  EXPECT_TRUE(run_bench(plan, calls, state));
  EXPECT_THAT(state.passes, ElementsAre(13, 13));
}

TEST(Bench, ProgressPredictsTheRest) {
  FakeDevice device({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}}, 2);
  std::vector<BenchProgress> told;
  BenchCalls calls = device.calls();
  calls.on_progress = [&](const BenchProgress& p) { told.push_back(p); };
  BenchState state;
  run_bench(plan, calls, state);
  ASSERT_EQ(told.size(), 52u);
  EXPECT_FALSE(told[0].left_seconds);
  EXPECT_NEAR(*told[1].left_seconds, 51, 0.5);
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i].total, 52) << i;
  EXPECT_NEAR(*told[26].left_seconds, 26, 0.5);  // one second per run
}

TEST(Bench, AReportSurvivesItsJsonAndRendersAgain) {
  FakeDevice device({50, 50.00001, 2870});
  device.drift = 0;
  BenchPlan plan = plan_of(false, {{"ours", false}, {"flash | 2", true}, {"slow <&>", false}}, 2);
  plan.head.rows[1].problem.causal = Causal::bottom_right;
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "2026-11-21T12:00:00Z");
  auto again = report_from_json(parse_json(to_json(report).dump(), "x").value(), "x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, report);
  EXPECT_EQ(as_markdown(*again), as_markdown(report));
  EXPECT_THAT(as_markdown(report), HasSubstr("(tie)"));
  EXPECT_THAT(as_markdown(report), testing::StartsWith(as_ladder(report).substr(0, as_ladder(report).find("\n\n"))));
  EXPECT_THAT(as_markdown(report), HasSubstr("flash \\| 2"));
  EXPECT_THAT(as_svg(report), HasSubstr("slow &lt;&amp;&gt;"));
  EXPECT_THAT(as_table(report), HasSubstr("2,870"));
}

TEST(Bench, AReportFromOutsideIsCheckedAtTheDoor) {
  FakeDevice device({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const Json good = to_json(report_of(plan, state, "d"));
  const auto refused = [&](const char* pointer, Json value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = std::move(value);
    auto read = report_from_json(bad, "r.json");
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(refused("/rows/0/cells/0/us/p50", 0), HasSubstr("r.json/rows/0/cells/0/us/p50"));
  EXPECT_THAT(refused("/rows/0/cells/0/ratios/0/peer", 7), HasSubstr("there is no entry 7"));
  EXPECT_THAT(refused("/rows/0/cells", Json::array()), HasSubstr("0 for 2 entries"));
  EXPECT_THAT(refused("/rows/0/cache", "warm"), HasSubstr("r.json/rows/0/cache"));
  EXPECT_THAT(refused("/attnscope_bench", 9), HasSubstr("attnscope_bench"));
  EXPECT_THAT(refused("/surprise", 1), HasSubstr("surprise"));
}

}  // namespace
}  // namespace attnscope::report
