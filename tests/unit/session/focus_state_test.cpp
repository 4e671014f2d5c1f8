#include "session/focus_state.h"

#include <gtest/gtest.h>

namespace attnscope::session {
namespace {

constexpr int kVariant = int(Part::variant), kCounters = int(Part::counters), kVerdict = int(Part::verdict),
              kTiming = int(Part::timing);

std::shared_ptr<const Kernel> tiled() {
  auto kernel = std::make_shared<Kernel>();
  kernel->id = "tiled";
  kernel->knobs = {{"BLOCK_M", {{16, ""}, {32, ""}}, 32, ""},
                   {"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""},
                   {"SHARED", {{0, "static"}, {1, "dynamic"}}, 0, ""}};
  return kernel;
}

Experiment experiment(int64_t warps, int64_t shared = 0) {
  Experiment e;
  e.kernel = "tiled";
  e.kernel_hash = "k1";
  e.config.knobs = {{"BLOCK_M", 32}, {"NUM_WARPS", warps}, {"SHARED", shared}};
  return e;
}

using protocol::PartValue;

protocol::Part part(std::vector<PartValue> values, bool final = true) { return {0, std::move(values), final}; }
PartValue variant_part(int registers) {
  VariantInfo v;
  v.registers = registers;
  return v;
}
PartValue counters_part(int64_t ctas) {
  Counters c;
  c.emulated_ctas = ctas;
  c.total_ctas = 128;
  return c;
}
Timing timing_of(double us) {
  Timing t;
  t.p50 = us;
  return t;
}
PartValue verdict_part() {
  Verdict v;
  v.state = VerdictState::correct;
  return v;
}

FocusState after_a_run() {
  FocusState focus;
  focus.want(experiment(4), tiled(), "");
  focus.apply(part({variant_part(64)}));
  focus.apply(part({counters_part(128)}));
  focus.apply(part({verdict_part()}));
  focus.apply(part({timing_of(1029), 1.5}));
  focus.finish(std::nullopt);
  return focus;
}

TEST(FocusState, NothingIsShownAtFirst) {
  FocusState state;
  state.want(experiment(4), tiled(), "");
  const Focus focus = state.view();
  EXPECT_FALSE(focus.shown);
  EXPECT_TRUE(focus.running);
  for (PartState part : focus.parts) EXPECT_EQ(part, PartState::none);
}

TEST(FocusState, AProgramsLaunchesGoWithItsVariant) {
  FocusState state;
  state.want(experiment(4), tiled(), "");
  LaunchFigures launch;
  launch.name = "first";
  state.apply(part({variant_part(64), std::vector{launch}}));
  state.finish(std::nullopt);
  state.want(experiment(8), tiled(), "");
  EXPECT_EQ(state.view().shown->launches.size(), 1u) << "its registers are still shown";
  state.apply(part({variant_part(32)}));
  EXPECT_TRUE(state.view().shown->launches.empty());
}

TEST(FocusState, PreviousFiguresStayNamedUntilTheirStageReplacesThem) {
  FocusState state = after_a_run();
  state.want(experiment(8), tiled(), "NUM_WARPS 4 → 8");
  Focus focus = state.view();
  EXPECT_EQ(focus.parts[kTiming], PartState::kept);
  EXPECT_EQ(focus.part_from[kTiming], "NUM_WARPS=4");
  EXPECT_EQ(focus.part_hash[kTiming], hash_of(experiment(4)));
  EXPECT_EQ(focus.shown->timing->p50, 1029);

  state.apply(part({variant_part(72)}));
  state.apply(part({counters_part(3)}, false));
  focus = state.view();
  EXPECT_EQ(focus.parts[kVariant], PartState::fresh);
  EXPECT_EQ(focus.part_hash[kVariant], hash_of(experiment(8)));
  EXPECT_EQ(focus.part_from[kVariant], "");
  EXPECT_EQ(focus.parts[kCounters], PartState::partial);
  EXPECT_EQ(focus.parts[kVerdict], PartState::kept);
  EXPECT_EQ(focus.shown->variant->registers, 72);
  EXPECT_EQ(focus.shown->verdict->state, VerdictState::correct);
  EXPECT_FALSE(state.own().verdict) << "an observation never holds another experiment's part";
}

TEST(FocusState, TheEndLeavesNothingOfAnEarlierExperiment) {
  FocusState state = after_a_run();
  state.want(experiment(8), tiled(), "");
  state.apply(part({variant_part(72)}));
  auto own = state.finish(std::nullopt);
  const Focus focus = state.view();
  EXPECT_EQ(focus.parts[kVariant], PartState::fresh);
  EXPECT_EQ(focus.parts[kTiming], PartState::none);
  EXPECT_FALSE(focus.shown->timing);
  EXPECT_FALSE(focus.shown->tflops);
  EXPECT_EQ(*focus.shown, *own);
  EXPECT_FALSE(focus.running);
}

TEST(FocusState, AFailureTakesTheStagesThatDidNotArrive) {
  FocusState state = after_a_run();
  state.want(experiment(8), tiled(), "");
  state.apply(part({variant_part(72)}));
  state.apply(part({counters_part(3)}, false));
  state.finish(Failure{Stage::deadline, "no progress for 5 s", ""});
  const Focus focus = state.view();
  EXPECT_EQ(focus.parts[kVariant], PartState::fresh);
  EXPECT_EQ(focus.parts[kCounters], PartState::failed);
  EXPECT_EQ(focus.shown->counters->emulated_ctas, 3) << "what was counted before the end is the experiment's own";
  EXPECT_EQ(focus.parts[kTiming], PartState::failed);
  EXPECT_FALSE(focus.shown->timing);
  ASSERT_TRUE(focus.failure);
  EXPECT_EQ(focus.failure->stage, Stage::deadline);
  EXPECT_EQ(focus.shown->failure, focus.failure);
}

TEST(FocusState, AFailureStreamedAsAPartCounts) {
  FocusState state;
  state.want(experiment(8), tiled(), "");
  state.apply(part({Failure{Stage::compile, "line 3", ""}}));
  EXPECT_EQ(state.view().failure->stage, Stage::compile);
  state.finish(std::nullopt);
  EXPECT_EQ(state.view().failure->stage, Stage::compile);
  EXPECT_EQ(state.view().parts[kVariant], PartState::failed);
}

TEST(FocusState, ARefusedConfigKeepsTheFigures) {
  FocusState state = after_a_run();
  state.refuse(experiment(4, 1), tiled(), "SHARED static → dynamic", Failure{Stage::input, "no", "why"});
  const Focus focus = state.view();
  EXPECT_FALSE(focus.running);
  EXPECT_EQ(focus.failure->message, "no");
  EXPECT_EQ(focus.parts[kTiming], PartState::kept);
  EXPECT_EQ(focus.part_from[kTiming], "SHARED=static");
  EXPECT_EQ(focus.wanted.config.knobs.at("SHARED"), 1);
}

TEST(FocusState, ARunThatStartsOverShowsNoFigureTwice) {
  FocusState state;
  state.want(experiment(8), tiled(), "");
  state.apply(part({counters_part(3)}, false));
  state.restart();
  EXPECT_EQ(state.view().parts[kCounters], PartState::kept);
  EXPECT_FALSE(state.own().counters);
  EXPECT_TRUE(state.running());
}

// A rate belongs to the time that it came with, a watch to the verdict with which it made a headline.
TEST(FocusState, ANewTimeAndANewVerdictTakeAlongWhatBelongedToTheOld) {
  FocusState state;
  state.want(experiment(4), tiled(), "");
  state.apply(part({timing_of(1029), 1.5, verdict_part(), WatchReport()}));
  state.finish(std::nullopt);
  state.want(experiment(8), tiled(), "");
  state.apply(part({variant_part(72)}));
  EXPECT_EQ(state.view().shown->tflops, 1.5);
  EXPECT_TRUE(state.view().shown->watch);
  state.apply(part({timing_of(900)}));
  EXPECT_FALSE(state.view().shown->tflops);
  state.apply(part({verdict_part()}));
  EXPECT_FALSE(state.view().shown->watch);
}

TEST(FocusState, UndoShowsAKeptObservationAsItWas) {
  FocusState state = after_a_run();
  auto first = state.view().shown;
  state.want(experiment(8), tiled(), "NUM_WARPS 4 → 8");
  state.show(first, tiled(), "", 3);
  const Focus focus = state.view();
  EXPECT_FALSE(focus.running);
  EXPECT_EQ(focus.shown, first);
  EXPECT_EQ(focus.wanted_hash, first->hash);
  EXPECT_EQ(focus.parts[kTiming], PartState::fresh);
  EXPECT_EQ(focus.parts[int(Part::occupancy)], PartState::none);
  EXPECT_EQ(focus.run, 3u);
}

TEST(FocusState, AJobIsItsOwnUntilItEndsOrAnotherExperimentIsWanted) {
  FocusState focus;
  focus.want(experiment(4), tiled(), "");
  EXPECT_FALSE(focus.settled()) << "nothing was sent";
  focus.started(7);
  EXPECT_TRUE(focus.is(7) && focus.settled());
  focus.finish(std::nullopt);
  EXPECT_FALSE(focus.is(7));
  EXPECT_TRUE(focus.settled()) << "it ran well";
  focus.started(8);
  focus.finish(Failure{Stage::crash, "gone", ""});
  EXPECT_FALSE(focus.settled());
  focus.started(9);
  focus.want(experiment(8), tiled(), "");
  EXPECT_FALSE(focus.is(9) || focus.is(0) || focus.settled());
  focus.started(10);
  focus.refuse(experiment(2), tiled(), "", Failure{Stage::input, "no", ""});
  EXPECT_FALSE(focus.settled());
}

}  // namespace
}  // namespace attnscope::session
