// The watch of what ran in focus, over a worker that replays.
#include "unit/session/session_fixture.h"

namespace attnscope::session {
namespace {

class SessionWatch : public SessionTest {
 protected:
  SessionWatch() { options_.watch_configs = true; }
  Seen wait_for_watch(const char* what) {
    return wait_for([](const Snapshot& s) { return s.focus.watch == WatchState::done; }, what);
  }
  size_t watches() const {
    const std::string lines = testing_support::read_text(dir_ / "requests");
    size_t count = 0;
    for (size_t at = 0; (at = lines.find("watch ", at)) != std::string::npos; ++at) ++count;
    return count;
  }
};

TEST_F(SessionWatch, FollowsTheRunAndIsKeptWithIt) {
  start();
  const Seen seen = wait_for_watch("the watch of the first experiment");
  ASSERT_TRUE(seen->focus.shown->watch);
  EXPECT_EQ(seen->focus.shown->watch->ctas, 8);
  EXPECT_TRUE(seen->history.at(seen->history.size - 1).observation->watch);
  EXPECT_EQ(watches(), 1u);

  session_->rerun();  // the same config: what is known of it comes with the run
  wait_for([](const Snapshot& s) { return s.history.size == 2; }, "the second run");
  const Seen again = wait_for_watch("what is known");
  EXPECT_TRUE(again->history.at(1).observation->watch);
  EXPECT_EQ(watches(), 1u);

  session_->watch();  // requested: watched again
  wait_for_file([&] { return watches() == 2; }, "the second watch");
  wait_for_watch("its end");

  stop();
  start();  // and it is known in the next session
  const Seen next = wait_for_watch("what was kept");
  EXPECT_TRUE(next->focus.shown->watch);
  EXPECT_EQ(watches(), 2u);
}

TEST_F(SessionWatch, OfAGpusKernelBringsCountersAndTheBound) {
  worker({"--gpu"});
  start();
  const Seen seen = wait_for_watch("the watch of the first experiment");
  for (const auto& observation : {seen->focus.shown, seen->history.at(0).observation}) {
    ASSERT_TRUE(observation->counters);
    EXPECT_EQ(observation->counters->threads, 7);
    EXPECT_EQ(observation->timing->bound, Bound::tensor_cores);
    EXPECT_GT(observation->timing->p50, 0);
    EXPECT_TRUE(observation->verdict);
  }
  session_->rerun();  // the same config: what is known of it comes with the run
  wait_for([](const Snapshot& s) { return s.history.size == 2; }, "the second run");
  const Seen again = wait_for_watch("what is known");
  EXPECT_EQ(again->history.at(1).observation->counters->threads, 7);
  EXPECT_EQ(again->history.at(1).observation->timing->bound, Bound::tensor_cores);
  EXPECT_EQ(watches(), 1u);
}

TEST_F(SessionWatch, GivesWayToTheNextConfig) {
  worker({"--gate", dir_ / "gate"});
  for (const char* part : {"variant", "occupancy", "counters", "verdict", "timing", "done"}) open_gate(part);
  start();
  wait_for([](const Snapshot& s) { return s.focus.watch == WatchState::running; }, "a watch that is held");
  focus(8);
  const Seen seen = wait_for_run(8);
  EXPECT_FALSE(seen->focus.shown->watch);
  wait_for([](const Snapshot& s) { return s.focus.watch == WatchState::running; }, "the watch of the next config");
  open_gate("watch");
  const Seen watched = wait_for_watch("its end");
  EXPECT_FALSE(watched->history.at(0).observation->watch);
  EXPECT_TRUE(watched->history.at(1).observation->watch);
}

// What is known about the config is shown only with a run that ended.
TEST_F(SessionWatch, OfARunThatWasCancelledNothingIsShown) {
  worker({"--gate", dir_ / "gate"});
  open_gates();
  open_gate("watch");
  start();
  wait_for_watch("the watch of the first experiment");
  close_gates();
  session_->rerun();
  wait_for([](const Snapshot& s) { return s.focus.running; }, "the second run");
  session_->cancel();
  const Seen seen = wait_for([](const Snapshot& s) { return s.focus.failure.has_value(); }, "its end");
  EXPECT_EQ(seen->focus.watch, WatchState::none);
}

TEST_F(SessionWatch, IsNotBegunUnasked) {
  options_.watch_configs = false;
  start();
  wait_for_run(4);
  focus(8);
  const Seen seen = wait_for_run(8);
  EXPECT_EQ(seen->focus.watch, WatchState::none);
  EXPECT_EQ(watches(), 0u);
}

TEST_F(SessionWatch, AQueuedRunOnAnEmulatedDeviceIsWatchedWhereAsked) {
  options_.first_experiment = options_.watch_configs = false;
  worker({"--race", "NUM_WARPS=8"});
  start();
  const Observation racy = session_->queue(tiled(8), Watch::emulated).get();
  ASSERT_TRUE(racy.watch);
  EXPECT_TRUE(racy.watch->has_errors());
  EXPECT_FALSE(session_->queue(tiled(8)).get().watch);
}

// The previous run's headline stays whole until the next verdict: its "correct" is never shown without its race.
TEST_F(SessionWatch, TheWatchStaysWithItsVerdict) {
  worker({"--race", "NUM_WARPS=4", "--gate", dir_ / "gate"});
  for (const char* part : {"variant", "occupancy", "counters", "verdict", "timing", "done", "watch"}) open_gate(part);
  start();
  wait_for_watch("the race");
  close_gates();
  open_gate("variant");
  focus(8);
  Seen s = wait_for([](const Snapshot& n) { return part(n, Part::variant) == PartState::fresh && n.focus.running; },
                    "the next run's first part");
  EXPECT_EQ(part(*s, Part::verdict), PartState::kept);
  ASSERT_TRUE(s->focus.shown->watch);
  EXPECT_TRUE(s->focus.shown->watch->has_errors());
  open_gates();
  s = wait_for([](const Snapshot& n) { return part(n, Part::verdict) == PartState::fresh; }, "its verdict");
  EXPECT_FALSE(s->focus.shown->watch && s->focus.shown->watch->has_errors());
}

}  // namespace
}  // namespace attnscope::session
