#include "session/queue_lane.h"

#include <gtest/gtest.h>

#include "unit/session/drafts_for_tests.h"

namespace attnscope::session {
namespace {

Experiment experiment(int64_t warps) { return {draft(warps, "l4box/cuda:0"), ""}; }

Timing timing_of(double us) {
  Timing timing;
  timing.p50 = us;
  return timing;
}

// Everything that a run must bring.
protocol::Part whole_run(JobId job) { return {job, {std::string("cuda:0"), Verdict{}, timing_of(5)}}; }

const Versions kVersions{"0.1.0", "13.0", "", ""};

std::shared_ptr<Answer> answer() { return std::make_shared<Answer>(); }

TEST(QueueLane, ARequestIsHeldUntilItIsReleasedOnce) {
  QueueLane lane;
  lane.hold({experiment(4), Watch::always, answer()});
  lane.hold({experiment(8), Watch::never, answer()});
  EXPECT_EQ(lane.unanswered(), 2u);
  const auto held = lane.release();
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].draft, experiment(4));
  EXPECT_EQ(held[0].watch, Watch::always);
  EXPECT_EQ(held[1].draft, experiment(8));
  EXPECT_EQ(lane.unanswered(), 0u);
  EXPECT_TRUE(lane.release().empty());
}

TEST(QueueLane, AJobIsOverWithItsOwnPartsUnderTheSessionsNameOfTheDevice) {
  QueueLane lane;
  const auto asked = answer();
  lane.place(7, experiment(4), false, asked);
  lane.place(8, experiment(8), false, answer());
  lane.take_part(whole_run(7));
  lane.take_part({8, {timing_of(900)}});
  lane.take_part({99, {timing_of(1)}});
  EXPECT_EQ(lane.unanswered(), 2u);
  const QueueLane::Ended ended = lane.finish(7, std::nullopt, "l4box", kVersions);
  EXPECT_EQ(ended.answer, asked);
  EXPECT_FALSE(ended.observation.failure);
  EXPECT_EQ(ended.observation.experiment, experiment(4));
  EXPECT_EQ(ended.observation.hash, hash_of(experiment(4)));
  EXPECT_EQ(ended.observation.timing->p50, 5);
  EXPECT_EQ(ended.observation.device, "l4box/cuda:0");
  EXPECT_EQ(ended.observation.versions, kVersions);
  EXPECT_EQ(lane.unanswered(), 1u);
}

TEST(QueueLane, ARunTellsItsOwnVersions) {
  QueueLane lane;
  lane.place(7, experiment(4), false, answer());
  const Versions own{"0.1.0", "12.8", "580", ""};
  lane.take_part({7, {own}});
  EXPECT_EQ(lane.finish(7, std::nullopt, "local", kVersions).observation.versions, own);
}

TEST(QueueLane, ARunThatLacksAPartIsAFailure) {
  QueueLane lane;
  lane.place(7, experiment(4), true, answer());
  lane.take_part(whole_run(7));
  const auto without_watch = lane.finish(7, std::nullopt, "l4box", kVersions).observation;
  ASSERT_TRUE(without_watch.failure);
  EXPECT_EQ(without_watch.failure->message, "worker l4box ended the run without its watch");
  lane.place(8, experiment(4), true, answer());
  lane.take_part(whole_run(8));
  lane.take_part({8, {WatchReport{}}});
  EXPECT_FALSE(lane.finish(8, std::nullopt, "l4box", kVersions).observation.failure);
  lane.place(9, experiment(4), false, answer());
  EXPECT_EQ(lane.finish(9, Failure{Stage::crash, "gone", ""}, "l4box", kVersions).observation.failure->message, "gone");
}

// A profiling worker reads the GPU's counters instead of timing.
TEST(QueueLane, ARunWithHardwareCountersNeedsNoTime) {
  QueueLane lane;
  lane.place(7, experiment(4), false, answer());
  lane.take_part({7, {HardwareCounters{}}});
  lane.take_part({7, {Verdict{}}});
  EXPECT_FALSE(lane.finish(7, std::nullopt, "l4box", kVersions).observation.failure);
}

TEST(QueueLane, WhatAnEarlierAttemptBroughtDoesNotCount) {
  QueueLane lane;
  lane.place(7, experiment(4), false, answer());
  lane.take_part(whole_run(7));
  lane.restart(7);
  const auto again = lane.finish(7, std::nullopt, "local", kVersions).observation;
  EXPECT_FALSE(again.timing);
  EXPECT_TRUE(again.failure);
  EXPECT_EQ(again.experiment, experiment(4));
}

TEST(QueueLane, TheEndOfTheSessionAnswersEverythingOnce) {
  QueueLane lane;
  const auto held = answer(), placed = answer();
  lane.hold({experiment(4), Watch::never, held});
  lane.place(7, experiment(8), false, placed);
  lane.take_part({7, {timing_of(5)}});
  lane.shut_down();
  EXPECT_EQ(held->get_future().get(), session_over());
  const Observation cut_short = placed->get_future().get();
  EXPECT_EQ(cut_short.failure, session_over().failure);
  EXPECT_EQ(cut_short.timing->p50, 5) << "as far as it came";
  EXPECT_EQ(lane.unanswered(), 0u);
  lane.shut_down();
}

}  // namespace
}  // namespace attnscope::session
