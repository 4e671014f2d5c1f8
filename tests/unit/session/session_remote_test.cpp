// Workers behind a link: named devices, links that break and come back, queues, other versions.
#include "session_fixture.h"

namespace attnscope::session {
namespace {

using testing::HasSubstr;

class RemoteTest : public SessionTest {
 protected:
  // The fake worker, reached through a program of ours instead of ssh. Call it before start(): a process that a
  // session starts meanwhile holds the written file open for a moment, and what is open for writing cannot run.
  WorkerCommand far(const std::string& script, std::vector<std::string> behaviour = {}) {
    const std::string ssh = dir_.write("ssh", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
    WorkerCommand command = fake("l4box", std::move(behaviour));
    command.argv.insert(command.argv.begin(), ssh);
    command.remote = true;
    return command;
  }
  static WorkerStatus l4box(const Snapshot& s) { return s.workers.size() > 1 ? s.workers[1] : WorkerStatus{}; }
  Draft on(const std::string& device) {
    Draft draft = tiled(8);
    draft.device = device;
    return draft;
  }
};

TEST_F(RemoteTest, ItsDevicesHaveItsNameAndItsNameMeansTheBestOfThem) {
  options_.first_experiment = false;
  options_.workers.push_back(far("exec \"$@\""));
  start();
  const Observation named = session_->queue(on("l4box/emulated:h200")).get();
  EXPECT_FALSE(named.failure) << named.failure->message;
  EXPECT_EQ(named.experiment.device, "l4box/emulated:h200");
  const Observation best = session_->queue(on("l4box")).get();
  EXPECT_FALSE(best.failure) << best.failure->message;
  EXPECT_EQ(best.device, "l4box/emulated:l4");
  EXPECT_EQ(best.timing, recorded("m32_w8").timing);
}

TEST_F(RemoteTest, TheFirstExperimentRunsWhereItWasAskedFor) {
  options_.workers.push_back(far("exec \"$@\""));
  options_.first_device = "l4box";
  start();
  EXPECT_EQ(wait_for_run(4)->focus.wanted.device, "l4box/emulated:l4");
}

TEST_F(RemoteTest, ALoginMessageIsNoiseAndAQueuesWordsAreItsState) {
  options_.first_experiment = false;
  options_.workers.push_back(
      far("echo 'srun: job 7 queued and waiting for resources' >&2\n"
          "while [ ! -e '" +
          (dir_ / "granted").string() +
          "' ]; do sleep 0.02; done\n"
          "head -c 60000 /dev/zero | tr '\\0' x; echo; echo 'Welcome to l4box'\nexec \"$@\""));
  start();
  auto answer = session_->queue(on("l4box/emulated:l4"));
  Seen s = wait_for([](const Snapshot& n) { return l4box(n).detail.find("queued") != std::string::npos; }, "the queue");
  EXPECT_EQ(l4box(*s).state, WorkerState::starting);
  EXPECT_TRUE(l4box(*s).waits);
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_FALSE(session_->queue(tiled(2)).get().failure) << "nothing here waits for it";
  dir_.write("granted", "yes");
  EXPECT_FALSE(answer.get().failure);
  wait_for([](const Snapshot& n) { return !l4box(n).waits; }, "that it is there");
}

// A command that says nothing, or only begins a line, is not known to be in a queue until it has said something.
TEST_F(RemoteTest, OnlyACommandThatSaidSomethingWaits) {
  options_.first_experiment = false;
  options_.workers.push_back(far("while [ ! -e '" + (dir_ / "said").string() +
                                 "' ]; do sleep 0.02; done\nprintf 'queued' >&2\nwhile [ ! -e '" +
                                 (dir_ / "granted").string() + "' ]; do sleep 0.02; done\nexec \"$@\""));
  start();
  EXPECT_FALSE(session_->queue(tiled(2)).get().failure);
  EXPECT_FALSE(l4box(*session_->snapshot()).waits);
  dir_.write("said", "yes");
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!l4box(*session_->snapshot()).waits && std::chrono::steady_clock::now() < limit)
    EXPECT_FALSE(session_->queue(tiled(2)).get().failure);  // a snapshot comes with each
  EXPECT_TRUE(l4box(*session_->snapshot()).waits) << "before the line's end";
  dir_.write("granted", "yes");
  EXPECT_FALSE(session_->queue(on("l4box/emulated:l4")).get().failure);
  wait_for([](const Snapshot& n) { return !l4box(n).waits; }, "that it is there");
}

TEST_F(RemoteTest, ALostLinkIsAStateAndWhatWasOnItIsSentAgain) {
  options_.first_experiment = false;
  options_.workers.push_back(far("exec \"$@\"", {"--crash", "NUM_WARPS=8", "--crash-once", dir_ / "crashed"}));
  start();
  const Observation o = session_->queue(on("l4box/emulated:l4")).get();
  EXPECT_FALSE(o.failure) << o.failure->message;
  Seen s = wait_for([](const Snapshot& n) { return l4box(n).state == WorkerState::ready; }, "the link");
  EXPECT_TRUE(logged(*s, "worker l4box went away"));
}

TEST_F(RemoteTest, AMachineThatCannotBeReachedIsGivenUpAndTriedAgain) {
  options_.first_experiment = false;
  options_.workers.push_back(far("[ -e '" + (dir_ / "up").string() +
                                 "' ] && exec \"$@\"\n"
                                 "printf 'ssh: connect to host l4box: No route to host\\r\\n' >&2; exit 255"));
  start();
  const Observation refused = session_->queue(on("l4box")).get();
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::device);
  EXPECT_THAT(refused.failure->message, HasSubstr("worker l4box is not available"));
  EXPECT_THAT(refused.failure->message, HasSubstr("No route to host"));
  Seen s = wait_for([](const Snapshot& n) { return l4box(n).state == WorkerState::lost; }, "the loss");
  EXPECT_THAT(l4box(*s).detail, HasSubstr("No route to host; tried again every 30 s"));
  EXPECT_EQ(l4box(*s).trouble, LinkTrouble::unreachable);
  EXPECT_FALSE(session_->queue(tiled(4)).get().failure) << "the first worker is there";
  dir_.write("up", "yes");
  EXPECT_TRUE(session_->queue(on("l4box")).get().failure) << "refused still, but it is tried at once";
  wait_for([](const Snapshot& n) { return l4box(n).state == WorkerState::ready; }, "the link");
  EXPECT_FALSE(session_->queue(on("l4box")).get().failure);
}

TEST_F(RemoteTest, AnotherVersionIsOneSentence) {
  options_.first_experiment = false;
  options_.workers.push_back(far("exec \"$@\"", {"--version", "9.8.7"}));
  start();
  const Observation refused = session_->queue(on("l4box/emulated:l4")).get();
  ASSERT_TRUE(refused.failure);
  EXPECT_THAT(refused.failure->message, HasSubstr("it is attnscope 9.8.7 and this is "));
  EXPECT_THAT(refused.failure->message, HasSubstr("install the same version on both machines"));
  Seen s = wait_for([](const Snapshot& n) { return l4box(n).state == WorkerState::lost; }, "the refusal");
  EXPECT_THAT(l4box(*s).detail, Not(HasSubstr("tried again"))) << "it would be no better the next time";
  EXPECT_EQ(l4box(*s).trouble, LinkTrouble::other_version);
}

TEST_F(RemoteTest, OneIsAddedToARunningSessionAndRemoved) {
  options_.first_experiment = false;
  const WorkerCommand command = far("exec \"$@\"", {"--reads"});
  start();
  EXPECT_FALSE(session_->queue(tiled(4)).get().failure);
  session_->add_worker(command);
  Seen s = wait_for([](const Snapshot& n) { return l4box(n).round_trip_ms && !l4box(n).gpus.empty(); }, "its answer");
  EXPECT_EQ(l4box(*s).command, command.argv);
  EXPECT_TRUE(l4box(*s).remote);
  EXPECT_EQ(l4box(*s).trouble, LinkTrouble::none);
  EXPECT_EQ(l4box(*s).gpus.front().temperature_c, 54);
  EXPECT_NE(find_device(*s, "l4box/cuda:0"), nullptr);
  EXPECT_FALSE(s->workers.front().round_trip_ms) << "a local pipe wakes nobody";
  EXPECT_EQ(session_->queue(on("l4box/emulated:l4")).get().timing, recorded("m32_w8").timing);
  session_->add_worker(command);
  wait_for([](const Snapshot& n) { return toasted(n, "there is already a worker l4box"); }, "the refusal");
  session_->remove_worker("local");
  session_->remove_worker("l4box");
  s = wait_for([](const Snapshot& n) { return n.workers.size() == 1; }, "the removal");
  EXPECT_EQ(find_device(*s, "l4box/cuda:0"), nullptr);
  EXPECT_FALSE(toasted(*s, "is not available"));
  const Observation gone = session_->queue(on("l4box/emulated:l4")).get();
  ASSERT_TRUE(gone.failure);
  EXPECT_THAT(gone.failure->message, HasSubstr("there is no device l4box/emulated:l4"));
  session_->add_worker(command);
  EXPECT_FALSE(session_->queue(on("l4box/emulated:l4")).get().failure) << "its name is free again";
}

TEST_F(RemoteTest, WhatRunsOnARemovedOneIsAnswered) {
  options_.first_experiment = false;
  const WorkerCommand command = far("exec \"$@\"", {"--stall", "NUM_WARPS=8"});
  start();
  session_->add_worker(command);
  wait_for([](const Snapshot& n) { return l4box(n).state == WorkerState::ready; }, "the link");
  auto answer = session_->queue(on("l4box/emulated:l4"));
  wait_for_file([this] { return runs() > 0; }, "the run");
  session_->remove_worker("l4box");
  const Observation ended = answer.get();
  ASSERT_TRUE(ended.failure);
  EXPECT_THAT(ended.failure->message, HasSubstr("worker l4box is not available: it was removed"));
  EXPECT_FALSE(session_->queue(tiled(4)).get().failure) << "the first worker goes on";
}

TEST_F(RemoteTest, WhyALinkFailedIsAState) {
  options_.first_experiment = false;
  options_.workers.push_back(far("exit 127"));
  start();
  WorkerCommand missing{"missing", {dir_ / "nothing-here"}, true};
  session_->add_worker(missing);
  const auto trouble = [&](const char* name, LinkTrouble expected) {
    wait_for(
        [&](const Snapshot& n) {
          const auto found = std::ranges::find(n.workers, name, &WorkerStatus::name);
          return found != n.workers.end() && found->trouble == expected;
        },
        name);
  };
  trouble("missing", LinkTrouble::no_program);
  trouble("l4box", LinkTrouble::no_worker);
}

}  // namespace
}  // namespace attnscope::session
