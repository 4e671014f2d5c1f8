#include "session_fixture.h"

#include <random>

namespace attnscope::session {
namespace {

using testing::HasSubstr;

TEST_F(SessionTest, AWorkerThatDiesLosesNoQueueRequest) {
  options_.first_experiment = false;
  worker({"--crash", "NUM_WARPS=8", "--crash-once", dir_ / "crashed"});
  start();
  std::vector<std::future<Observation>> answers;
  for (int64_t warps : {1, 8, 2, 4}) answers.push_back(session_->queue(tiled(warps)));
  for (auto& answer : answers) {
    const Observation o = answer.get();
    EXPECT_FALSE(o.failure) << o.failure->message;
    EXPECT_TRUE(o.timing);
  }
  EXPECT_TRUE(std::filesystem::exists(dir_ / "crashed"));
  EXPECT_EQ(runs(), 5u) << "the one that was lost was sent again, the others were not";
}

TEST_F(SessionTest, ARequestThatKillsEveryWorkerFailsAndTheNextOneRuns) {
  options_.first_experiment = false;
  worker({"--crash", "NUM_WARPS=8"});
  start();
  auto deadly = session_->queue(tiled(8));
  auto next = session_->queue(tiled(2));
  const Observation o = deadly.get();
  ASSERT_TRUE(o.failure);
  EXPECT_EQ(o.failure->stage, Stage::crash);
  EXPECT_THAT(o.failure->message, HasSubstr("signal 9"));
  EXPECT_TRUE(o.variant) << "what came before the end is kept";
  EXPECT_FALSE(next.get().failure);
}

// A worker that answers "done" and nothing else has not run anything.
TEST_F(SessionTest, ARunThatEndsWithoutItsPartsIsNoSuccess) {
  for (const auto& [omitted, word] :
       {std::pair("verdict", "verdict"), std::pair("timing", "time"),
        std::pair("variant,occupancy,counters,verdict,timing,watch", "time, verdict"), std::pair("watch", "watch")}) {
    options_.first_experiment = false;
    worker({"--omit", omitted});
    start();
    const Observation o = session_->queue(tiled(8), Watch::emulated).get();
    ASSERT_TRUE(o.failure) << omitted;
    EXPECT_EQ(o.failure->stage, Stage::protocol);
    EXPECT_THAT(o.failure->message, HasSubstr(std::string("without its ") + word));
    stop();
  }
  options_.first_experiment = true;
  worker({"--omit", "verdict"});
  start();
  const Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the refusal in focus");
  EXPECT_EQ(s->focus.failure->stage, Stage::protocol);
}

TEST_F(SessionTest, FocusSurvivesItsWorker) {
  worker({"--crash", "NUM_WARPS=8", "--crash-once", dir_ / "crashed"});
  start();
  wait_for_run(4);
  focus(8);
  Seen s = wait_for_run(8);
  EXPECT_FALSE(s->focus.failure);
  EXPECT_EQ(s->focus.shown->timing, recorded("m32_w8").timing);
  EXPECT_TRUE(logged(*s, "went away"));
}

// How long it does nothing for a request counts only while it holds one.
TEST_F(SessionTest, AWorkerThatHasAnsweredMayBeIdle) {
  options_.answer_ms = 5000;
  start();
  wait_for_run(4);
  std::this_thread::sleep_for(std::chrono::milliseconds(6500));
  const Seen s = session_->snapshot();
  EXPECT_FALSE(logged(*s, "did nothing for it"));
  EXPECT_FALSE(logged(*s, "went away"));
  EXPECT_EQ(s->workers.at(0).state, WorkerState::ready);
}

TEST_F(SessionTest, BytesThatAreNoMessageEndTheConnectionNotTheSession) {
  worker({"--garbage", "NUM_WARPS=8"});
  start();
  wait_for_run(4);
  focus(8);
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the failure");
  EXPECT_EQ(s->focus.failure->stage, Stage::crash);
  focus(2);
  EXPECT_FALSE(wait_for_run(2)->focus.failure);
}

// The envelope is sound, so the request that it belongs to is known.
TEST_F(SessionTest, APartThatCannotBeReadEndsItsRequestAndItsExecutorOnly) {
  worker({"--wrong-part", "NUM_WARPS=8", "--gate", gate()});
  start();
  open_gate("variant");
  open_gate("occupancy");
  focus(8);
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the failure");
  EXPECT_EQ(s->focus.failure->stage, Stage::protocol);
  EXPECT_THAT(s->focus.failure->message, HasSubstr("part/no_such_part"));
  const Observation queued = session_->queue(tiled(8)).get();
  ASSERT_TRUE(queued.failure);
  EXPECT_THAT(queued.failure->message, HasSubstr("part/no_such_part"));
  open_gates();
  focus(2);
  EXPECT_FALSE(wait_for_run(2)->focus.failure);
  const auto asked = requests();
  EXPECT_EQ(std::ranges::count(asked, "restart"), 2);
  EXPECT_EQ(std::ranges::count(asked, "hello"), 1) << "the worker itself stays";
}

TEST_F(SessionTest, NoiseBeforeTheBannerIsSkippedUpToALimit) {
  worker({"--noise", "60000"});
  start();
  EXPECT_FALSE(wait_for_run(4)->focus.failure);
  stop();
  worker({"--noise", "200000"});
  start();
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the refusal");
  EXPECT_EQ(s->focus.failure->stage, Stage::device);
  EXPECT_EQ(s->workers.at(0).state, WorkerState::lost);
}

TEST_F(SessionTest, AWorkerThatCannotBeStartedIsSaidInWords) {
  options_.workers = {{"local", {dir_ / "no-such-program", "worker"}}};
  start();
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the failure");
  EXPECT_EQ(s->focus.failure->stage, Stage::device);
  EXPECT_THAT(s->focus.failure->message, HasSubstr("no-such-program"));
  EXPECT_TRUE(toasted(*s, "no-such-program"));
  EXPECT_EQ(session_->queue(tiled(4)).get().failure->stage, Stage::device);
}

TEST_F(SessionTest, AWorkerThatEndsAtOnceIsGivenUpWithItsLastWords) {
  options_.first_experiment = false;
  worker({"--exit-at-start", "--stderr", "ssh: connect to host l4box: No route to host"});
  start();
  const Observation o = session_->queue(tiled(4)).get();
  EXPECT_EQ(o.failure->stage, Stage::device);
  EXPECT_THAT(o.failure->message, HasSubstr("No route to host"));
  EXPECT_THAT(o.failure->message, HasSubstr("status 3"));
  // A second request is tried again.
  EXPECT_EQ(session_->queue(tiled(4)).get().failure->stage, Stage::device);
}

TEST_F(SessionTest, ASilentWorkerIsReplaced) {
  options_.silence_ms = 150;
  worker({"--silent", "--stall", "NUM_WARPS=4"});
  start();
  Seen s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the end of patience");
  EXPECT_EQ(s->focus.failure->stage, Stage::crash);
  EXPECT_THAT(s->focus.failure->message, HasSubstr("silent"));
}

TEST_F(SessionTest, WaitingForAWorkerIsAStateNotATimeout) {
  options_.silence_ms = 50;
  worker({"--mute"});
  start();
  Seen s =
      wait_for([](const Snapshot& n) { return n.focus.running && n.focus.stage == "starting the worker"; }, "the wait");
  EXPECT_EQ(s->workers.at(0).state, WorkerState::starting);
  session_->cancel();
  s = wait_for([](const Snapshot& n) { return n.focus.failure.has_value(); }, "the end");
  EXPECT_EQ(s->focus.failure->stage, Stage::cancelled);
}

// A user moves a knob while workers die: nothing is lost, nothing hangs, and the last request is what the window shows.
TEST_F(SessionTest, PlayingWithAKnobWhileWorkersDie) {
  worker({"--crash", "NUM_WARPS=6"});
  start();
  std::mt19937 random(5);
  const int64_t values[] = {1, 2, 4, 6, 8};
  std::vector<std::future<Observation>> answers;
  for (int step = 0; step < 120; ++step) {
    const int64_t warps = values[random() % 5];
    switch (random() % 6) {
      case 0:
        answers.push_back(session_->queue(tiled(warps == 6 ? 8 : warps)));
        break;
      case 1:
        session_->undo();
        break;
      case 2:
        session_->redo();
        break;
      case 3:
        session_->cancel();
        break;
      default:
        session_->focus(tiled(warps), Gesture{static_cast<uint64_t>(1000 + step / 3), true, ""});
    }
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
  }
  for (auto& answer : answers) {
    const Observation o = answer.get();
    // A request that was in flight when a worker died three times over is answered, too.
    if (o.failure) {
      EXPECT_EQ(o.failure->stage, Stage::crash) << o.failure->message;
    }
  }
  focus(8);
  // The moves may have left a cancelled run of this very config: the run after the last request counts.
  Seen s = wait_for(
      [](const Snapshot& n) {
        return !n.focus.running && !n.focus.failure && n.focus.wanted.config.knobs.at("NUM_WARPS") == 8 &&
               part(n, Part::timing) == PartState::fresh;
      },
      "the last wish");
  EXPECT_EQ(s->focus.shown->timing, recorded("m32_w8").timing);
}

}  // namespace
}  // namespace attnscope::session
