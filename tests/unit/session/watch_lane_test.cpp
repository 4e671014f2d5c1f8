#include "session/watch_lane.h"

#include <gtest/gtest.h>

namespace attnscope::session {
namespace {

Observation run_of(int64_t warps) {
  Observation observation;
  observation.experiment.kernel = "k";
  observation.experiment.config.knobs = {{"NUM_WARPS", warps}};
  observation.timing = Timing{};
  observation.timing->p50 = 5;
  return observation;
}

Observation watched() {
  Observation observation = run_of(4);
  observation.watch = WatchReport{};
  observation.counters = Counters{};
  observation.counters->barriers = 7;
  observation.timing->bound = Bound::l2_bandwidth;
  return observation;
}

TEST(WatchLane, OneWaitsAndOneRuns) {
  WatchLane lane;
  const auto first = std::make_shared<const Observation>(run_of(4));
  lane.wait(first);
  EXPECT_EQ(lane.take(), first);
  EXPECT_EQ(lane.take(), nullptr);
  lane.started(3);
  EXPECT_TRUE(lane.running() && lane.is(3));
  lane.wait(first);
  lane.drop();
  EXPECT_FALSE(lane.running() || lane.is(3));
  EXPECT_EQ(lane.take(), nullptr);
}

TEST(WatchLane, WhatItFoundOutHoldsHoweverTheExperimentIsMeasured) {
  WatchLane lane;
  lane.started(3);
  const auto after = lane.finish(run_of(4), watched(), std::nullopt);
  ASSERT_TRUE(after);
  EXPECT_TRUE((*after)->watch);
  EXPECT_FALSE(lane.running());
  Experiment cold = run_of(4).experiment;
  cold.measure.cache = CacheState::cold;
  EXPECT_EQ(lane.known(cold), *after);
  EXPECT_EQ(lane.known(run_of(8).experiment), nullptr);
}

TEST(WatchLane, AWatchThatFailedOrSaysNothingIsNotRemembered) {
  WatchLane lane;
  EXPECT_EQ(lane.finish(run_of(4), watched(), Failure{Stage::crash, "gone", ""}).error().message, "gone");
  EXPECT_EQ(lane.finish(run_of(4), run_of(4), std::nullopt).error().stage, Stage::internal);
  EXPECT_EQ(lane.known(run_of(4).experiment), nullptr);
}

TEST(WatchLane, RemembersABoundedNumber) {
  WatchLane lane;
  for (int64_t warps = 0; warps <= static_cast<int64_t>(WatchLane::kMostRemembered); ++warps)
    lane.remember(run_of(warps).experiment, std::make_shared<const Observation>(watched()));
  EXPECT_EQ(lane.known(run_of(0).experiment), nullptr);
  EXPECT_TRUE(lane.known(run_of(WatchLane::kMostRemembered).experiment));
}

TEST(WithWatchOf, BringsCountersAndBoundWhereTheRunHasNone) {
  const auto gpu = with_watch_of(run_of(4), watched());
  EXPECT_EQ(gpu->counters->barriers, 7);
  EXPECT_EQ(gpu->timing->bound, Bound::l2_bandwidth);
  EXPECT_EQ(gpu->timing->p50, 5);
  Observation counted = run_of(4);
  counted.counters = Counters{};
  const auto emulated = with_watch_of(counted, watched());
  EXPECT_TRUE(emulated->watch);
  EXPECT_EQ(emulated->counters, Counters{}) << "its own stand";
  EXPECT_EQ(emulated->timing->bound, Bound::unknown);
}

}  // namespace
}  // namespace attnscope::session
