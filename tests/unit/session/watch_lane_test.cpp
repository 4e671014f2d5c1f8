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

Shared<Observation> run(int64_t warps) { return share(run_of(warps)); }

// What a watch of a GPU's kernel sends.
protocol::Part report(JobId job) { return {job, {*watched().counters, Bound::l2_bandwidth, WatchReport{}}}; }

TEST(WatchLane, OneWaitsAndOneRuns) {
  WatchLane lane;
  const auto first = run(4);
  lane.wait(first);
  EXPECT_EQ(lane.take(), first);
  EXPECT_EQ(lane.take(), nullptr);
  lane.started(3, first);
  EXPECT_TRUE(lane.running() && lane.is(3));
  lane.wait(first);
  lane.drop();
  EXPECT_FALSE(lane.running() || lane.is(3));
  EXPECT_EQ(lane.take(), nullptr);
}

TEST(WatchLane, WhatItFoundOutHoldsHoweverTheExperimentIsMeasured) {
  WatchLane lane;
  const auto before = run(4);
  lane.started(3, before);
  lane.take_part(report(3));
  const auto after = lane.finish(std::nullopt);
  ASSERT_TRUE(after);
  EXPECT_EQ(lane.before(), before);
  EXPECT_TRUE((*after)->watch);
  EXPECT_EQ((*after)->counters->barriers, 7);
  EXPECT_EQ((*after)->timing->bound, Bound::l2_bandwidth);
  EXPECT_FALSE(lane.running());
  Experiment cold = run_of(4).experiment;
  cold.measure.cache = CacheState::cold;
  EXPECT_EQ(lane.known(cold), *after);
  EXPECT_EQ(lane.known(run_of(8).experiment), nullptr);
}

TEST(WatchLane, AWatchThatFailedOrSaysNothingIsNotRemembered) {
  WatchLane lane;
  lane.started(3, run(4));
  lane.take_part(report(3));
  EXPECT_EQ(lane.finish(Failure{Stage::crash, "gone", ""}).error().message, "gone");
  lane.started(4, run(4));
  EXPECT_EQ(lane.finish(std::nullopt).error().stage, Stage::internal);
  EXPECT_EQ(lane.known(run_of(4).experiment), nullptr);
}

TEST(WatchLane, WhatAnotherJobOrAnEarlierAttemptFoundDoesNotCount) {
  WatchLane lane;
  lane.started(3, share(watched()));
  lane.take_part(report(4));
  EXPECT_FALSE(lane.finish(std::nullopt)) << "a report of another job, and one from an earlier watch";
  lane.take_part(report(3));
  lane.take_part(report(0));
  lane.started(5, run(4));
  lane.take_part(report(5));
  lane.restart();
  EXPECT_FALSE(lane.finish(std::nullopt)) << "it is sent again: its worker went away";
}

TEST(WatchLane, RemembersABoundedNumber) {
  WatchLane lane;
  for (int64_t warps = 0; warps <= static_cast<int64_t>(WatchLane::kMostRemembered); ++warps)
    lane.remember(run_of(warps).experiment, share(watched()));
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
