#include "worker/supervisor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "catalog/catalog.h"
#include "faults/support/worker_client.h"
#include "worker/executor_pool.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;
using testing_support::Answer;
using testing_support::WorkerClient;

// A supervisor on a thread of this process, over executors that do what a test's kernel id says.
class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() {
    options_.version = "test";
    options_.executor_argv = {ATTNSCOPE_SCRIPTED_EXECUTOR};
  }
  ~SupervisorTest() override { stop(); }

  WorkerClient& client() {
    if (client_) return *client_;
    int to[2], from[2];
    EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
    supervisor_ = std::thread([this, in = to[0], out = from[1]] { status_ = run_supervisor(in, out, options_); });
    client_ = std::make_unique<WorkerClient>(to[1], from[0]);
    client_->offer(kernel());
    return *client_;
  }

  int stop() {
    if (client_) client_->close_input();
    if (supervisor_.joinable()) supervisor_.join();
    client_.reset();
    return status_;
  }

  static Kernel kernel() {
    Kernel kernel;
    kernel.source = "source";
    kernel.manifest = "{}";
    kernel.manifest_name = "kernel.json";
    kernel.content_hash = catalog::content_hash(kernel.manifest, kernel.source);
    return kernel;
  }
  static Experiment telling(const std::string& word) {
    Experiment experiment;
    experiment.kernel = word;
    experiment.kernel_hash = kernel().content_hash;
    experiment.config.knobs = {{"BLOCK_M", 32}};
    experiment.device = "emulated:l4";
    return experiment;
  }
  // The executor that answered, as the scripted executor reports.
  static int who(const Answer& answer) { return static_cast<int>(answer.observation.tflops.value_or(0)); }

  protocol::Id begun(const std::string& word) {
    const protocol::Id id = client().run(telling(word));
    client().wait_until([&] { return !client().answer(id).progress.empty(); });
    return id;
  }
  void expect_the_next_runs() {
    const Answer next = client().run_and_wait(telling("answer"));
    EXPECT_FALSE(next.failure) << next.failure->message;
    EXPECT_NE(who(next), 0);
  }

  SupervisorOptions options_;

 private:
  std::unique_ptr<WorkerClient> client_;
  std::thread supervisor_;
  int status_ = -1;
};

TEST(SecondsText, HasOneDecimalWhereItIsNeeded) {
  const std::pair<int64_t, const char*> kTexts[] = {{0, "0 s"},      {999, "0.9 s"},  {1000, "1 s"}, {1050, "1.0 s"},
                                                    {1500, "1.5 s"}, {1999, "1.9 s"}, {2000, "2 s"}, {12345, "12.3 s"}};
  for (const auto& [ms, text] : kTexts) EXPECT_EQ(seconds_text(ms), text);
}

TEST_F(SupervisorTest, AnswersHelloWithItsOwnPid) {
  const auto hello = client().hello();
  EXPECT_EQ(hello.pid, getpid());
  EXPECT_EQ(hello.versions.app, "scripted");
  EXPECT_EQ(client().version, "test");
}

TEST_F(SupervisorTest, AnswersInOrderAndOnce) {
  std::vector<protocol::Id> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(client().run(telling("answer")));
  client().wait(ids.back());
  for (const auto id : ids) {
    EXPECT_EQ(client().answer(id).times_done, 1);
    EXPECT_FALSE(client().answer(id).failure);
  }
  EXPECT_EQ(client().answer(ids[0]).needs, 1);
  EXPECT_EQ(client().answer(ids[1]).needs, 0) << "a kernel is asked for once";
}

TEST_F(SupervisorTest, ACrashIsNamedAndTheSpareTakesOver) {
  const int first = who(client().run_and_wait(telling("answer")));
  const Answer crashed = client().run_and_wait(telling("crash"));
  ASSERT_TRUE(crashed.failure);
  EXPECT_EQ(crashed.failure->stage, Stage::crash);
  EXPECT_THAT(crashed.failure->message, HasSubstr("crash BLOCK_M=32 on emulated:l4"));
  EXPECT_THAT(crashed.failure->message, HasSubstr("signal 6"));
  EXPECT_EQ(crashed.observation.failure, crashed.failure) << "a failure is part of the observation";
  EXPECT_EQ(crashed.progress.size(), 1u) << "what began is not tried again";
  const int second = who(client().run_and_wait(telling("answer")));
  EXPECT_NE(first, second);
}

TEST_F(SupervisorTest, LeavingIsACrashToo) {
  const Answer left = client().run_and_wait(telling("leave"));
  ASSERT_TRUE(left.failure);
  EXPECT_EQ(left.failure->stage, Stage::crash);
  EXPECT_THAT(left.failure->message, HasSubstr("status 7"));
  expect_the_next_runs();
}

TEST_F(SupervisorTest, ACrashAfterTheAnswerLosesNothing) {
  const Answer answer = client().run_and_wait(telling("crash_after"));
  EXPECT_FALSE(answer.failure);
  for (int i = 0; i < 20; ++i) {
    // The next request may reach the dying executor; it is answered by another.
    EXPECT_FALSE(client().run_and_wait(telling("crash_after")).failure);
    expect_the_next_runs();
  }
}

TEST_F(SupervisorTest, WhoDiesWithoutAWordIsTriedOnceMore) {
  const Answer mute = client().run_and_wait(telling("crash_mute"));
  ASSERT_TRUE(mute.failure);
  EXPECT_EQ(mute.failure->stage, Stage::crash);
  EXPECT_EQ(mute.times_done, 1);
  expect_the_next_runs();
  EXPECT_EQ(std::ranges::count_if(
                client().logs,
                [](const protocol::Log& log) { return log.text.find("ended by signal") != std::string::npos; }),
            2);
}

TEST_F(SupervisorTest, WhoStopsWhenItsTimeIsUpSaysWhereItWasAndLivesOn) {
  const int first = who(client().run_and_wait(telling("answer")));
  const Answer hung = client().run_and_wait(telling("still_but_obedient"), {.compile_ms = 300, .emulated_ms = 300});
  ASSERT_TRUE(hung.failure);
  EXPECT_EQ(hung.failure->stage, Stage::deadline);
  EXPECT_THAT(hung.failure->message, HasSubstr("no progress for 0.3 s"));
  EXPECT_THAT(hung.failure->message, HasSubstr("It was at kernel.cu:7"));
  EXPECT_EQ(hung.observation.failure, hung.failure);
  EXPECT_EQ(hung.times_done, 1);
  EXPECT_EQ(who(client().run_and_wait(telling("answer"))), first) << "no process had to end";
}

TEST_F(SupervisorTest, AClientThatGreetedAndFallsSilentIsGone) {
  options_.client_silence_ms = 2000;
  client().hello();
  const protocol::Id deaf = client().run(telling("deaf"));
  while (client().answer(deaf).progress.empty() && !HasFailure()) client().hello();  // an executor may be slow to start
  client().wait_until([&] { return client().over(); });
  EXPECT_EQ(stop(), 0);  // the supervisor's end waits for its executors'
  EXPECT_TRUE(testing_support::children_of(getpid()).empty());
}

TEST_F(SupervisorTest, NoProgressEndsAtTheDeadline) {
  for (const char* word : {"hang", "still"}) {
    const Answer hung = client().run_and_wait(telling(word), {.compile_ms = 300, .emulated_ms = 300});
    ASSERT_TRUE(hung.failure) << word;
    EXPECT_EQ(hung.failure->stage, Stage::deadline);
    EXPECT_THAT(hung.failure->message, HasSubstr(std::string(word) + " BLOCK_M=32"));
    EXPECT_THAT(hung.failure->message, HasSubstr("0.3 s"));
    EXPECT_THAT(hung.failure->hint, HasSubstr("--deadline"));
    expect_the_next_runs();
  }
}

TEST_F(SupervisorTest, SteadyProgressOutlivesTheDeadline) {
  const Answer slow = client().run_and_wait(telling("slow"), {.emulated_ms = 2500});  // 3 s in 60 steps
  EXPECT_FALSE(slow.failure) << slow.failure->message;
}

TEST_F(SupervisorTest, AStoppedExecutorIsEndedForItsSilence) {
  options_.silence_ms = 2500;  // fifty times the scripted executor's interval
  const Answer stopped = client().run_and_wait(telling("stop"), {.compile_ms = 600000, .emulated_ms = 600000});
  ASSERT_TRUE(stopped.failure);
  EXPECT_EQ(stopped.failure->stage, Stage::crash);
  EXPECT_THAT(stopped.failure->message, HasSubstr("no sign of life"));
  expect_the_next_runs();
}

TEST_F(SupervisorTest, AnExecutorThatWritesNonsenseIsEnded) {
  for (const char* word : {"garbage", "oversize", "close"}) {
    const Answer wrong = client().run_and_wait(telling(word));
    ASSERT_TRUE(wrong.failure) << word;
    EXPECT_EQ(wrong.failure->stage, Stage::crash) << word;
    expect_the_next_runs();
  }
}

// The client could not read part of the answer.
TEST_F(SupervisorTest, ARestartEndsTheExecutorAndTheRequestWithTheClientsFailure) {
  const Failure unreadable{Stage::protocol, "part/no_such_part: unknown", "report it"};
  const int before = who(client().run_and_wait(telling("answer")));
  const auto running = begun("deaf");
  const auto last = client().run(telling("answer"));
  client().send(protocol::Restart{0, last, unreadable});  // it waits: none of it was sent
  client().send(protocol::Restart{0, running, unreadable});
  const Answer ended = client().wait(running);
  EXPECT_EQ(ended.failure, unreadable);
  EXPECT_EQ(ended.observation.failure, unreadable);
  EXPECT_FALSE(client().wait(last).failure);
  EXPECT_NE(who(client().answer(last)), before) << "another executor answers";
  client().send(protocol::Restart{0, running, unreadable});  // already over
  EXPECT_EQ(who(client().run_and_wait(telling("answer"))), who(client().answer(last)));
  EXPECT_EQ(client().answer(running).times_done, 1);
}

TEST_F(SupervisorTest, ARestartForAMapEndsItsExecutorUnlessAnotherRequestRuns) {
  const Failure unreadable{Stage::protocol, "tile/tile/width: must be a number", "report it"};
  const int before = who(client().run_and_wait(telling("answer")));
  const auto running = begun("until_cancelled");
  const auto map = client().send(protocol::View{0, {}});
  client().send(protocol::Restart{0, map, unreadable});
  EXPECT_EQ(client().wait(map).failure, unreadable);
  client().cancel(running);
  EXPECT_EQ(client().wait(running).failure->stage, Stage::cancelled);
  EXPECT_EQ(who(client().run_and_wait(telling("answer"))), before);
  const auto alone = client().send(protocol::View{0, {}});
  client().send(protocol::Restart{0, alone, unreadable});
  EXPECT_EQ(client().wait(alone).failure, unreadable);
  EXPECT_NE(who(client().run_and_wait(telling("answer"))), before);
}

TEST_F(SupervisorTest, CancellingWhatRunsAndWhatWaits) {
  const auto running = begun("until_cancelled");
  const auto waiting = client().run(telling("answer"));
  const auto last = client().run(telling("answer"));
  client().cancel(waiting);
  client().wait(waiting);
  EXPECT_EQ(client().answer(waiting).failure->stage, Stage::cancelled);
  EXPECT_FALSE(client().answer(running).done());
  client().cancel(running);
  client().wait(running);
  EXPECT_EQ(client().answer(running).failure->stage, Stage::cancelled);
  EXPECT_FALSE(client().answer(running).observation.failure) << "a cancelled run is no failed experiment";
  EXPECT_FALSE(client().wait(last).failure);
  client().cancel(last);    // already over
  client().cancel(987654);  // never existed
  expect_the_next_runs();
  for (const auto id : {running, waiting, last}) EXPECT_EQ(client().answer(id).times_done, 1);
}

TEST_F(SupervisorTest, WhoDoesNotStopWhenAskedIsEnded) {
  options_.cancel_grace_ms = 200;
  const auto deaf = begun("deaf");
  client().cancel(deaf);
  EXPECT_EQ(client().wait(deaf).failure->stage, Stage::cancelled);
  expect_the_next_runs();
}

TEST_F(SupervisorTest, AKernelUnderAFalseHashIsRefused) {
  Experiment experiment = telling("answer");
  experiment.kernel_hash = std::string(32, 'f');
  Kernel imposter = kernel();
  imposter.content_hash = experiment.kernel_hash;
  client().offer(imposter);
  const Answer refused = client().run_and_wait(experiment);
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::protocol);
  EXPECT_THAT(refused.failure->message, HasSubstr("kernel.json"));
  expect_the_next_runs();
}

TEST_F(SupervisorTest, AKernelThatNeverComes) {
  options_.kernel_ms = 200;
  Experiment experiment = telling("answer");
  experiment.kernel_hash = std::string(32, '0');
  const auto first = client().run(experiment);
  const auto second = client().run(telling("answer"));
  EXPECT_EQ(client().wait(first).failure->stage, Stage::protocol);
  EXPECT_FALSE(client().wait(second).failure);
}

TEST_F(SupervisorTest, WaitingForAKernelCanBeCancelled) {
  Experiment experiment = telling("answer");
  experiment.kernel_hash = std::string(32, '0');
  const auto first = client().run(experiment);
  const auto second = client().run(telling("answer"));
  client().cancel(first);
  EXPECT_EQ(client().wait(first).failure->stage, Stage::cancelled);
  EXPECT_FALSE(client().wait(second).failure);
}

TEST_F(SupervisorTest, EveryExecutorIsGoneAtTheEndOfInput) {
  begun("deaf");
  client().wait_until([&] { return testing_support::children_of(getpid()).size() == 2; });  // it and the spare
  EXPECT_EQ(stop(), 0);
  EXPECT_TRUE(testing_support::children_of(getpid()).empty());
}

TEST_F(SupervisorTest, WhatIsNoProtocolEndsIt) {
  int to[2], from[2];
  ASSERT_EQ(pipe2(to, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(from, O_CLOEXEC), 0);
  int status = -1;
  std::thread supervisor([&] { status = run_supervisor(to[0], from[1], options_); });
  ASSERT_EQ(write(to[1], "GET / HTTP/1.1\r\n", 16), 16);  // "GET " as a length is over the cap
  supervisor.join();
  EXPECT_EQ(status, 2);
  close(to[1]);
  close(from[0]);
}

TEST_F(SupervisorTest, DescriptorsThatAreNoPipesAreRefused) {
  const int file = open("/proc/self/exe", O_RDONLY);
  EXPECT_EQ(run_supervisor(file, file, options_), 2);
}

TEST_F(SupervisorTest, AMalformedRequestIsAnsweredUnderItsId) {
  Experiment wrong = telling("answer");
  wrong.problem.batch = -4;
  const Answer malformed = client().run_and_wait(wrong);
  ASSERT_TRUE(malformed.failure);
  EXPECT_THAT(malformed.failure->message, HasSubstr("batch"));
  expect_the_next_runs();
}

TEST_F(SupervisorTest, AMapOfALostRunIsRefused) {
  expect_the_next_runs();
  const auto view = client().send(protocol::View{});
  client().run_and_wait(telling("crash"));
  const Answer& refused = client().wait(view);
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::device);
  EXPECT_EQ(refused.times_done, 1);
}

TEST_F(SupervisorTest, ExecutorsThatDoNotStartLeaveNobodyWaiting) {
  options_.executor_argv = {ATTNSCOPE_SCRIPTED_EXECUTOR, "exit"};
  const Answer refused = client().run_and_wait(telling("answer"));
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::crash);
  EXPECT_THAT(refused.failure->message, HasSubstr("status 9"));
  EXPECT_TRUE(client().run_and_wait(telling("answer")).failure) << "and not only the first";
}

TEST_F(SupervisorTest, AMissingExecutorIsNamed) {
  options_.executor_argv = {"/no/such/program"};
  const Answer refused = client().run_and_wait(telling("answer"));
  ASSERT_TRUE(refused.failure);
  EXPECT_THAT(refused.failure->message, HasSubstr("/no/such/program"));
}

TEST_F(SupervisorTest, HeartbeatsTellWhatItDoes) {
  using protocol::WorkerPhase;
  const auto beat = [&](WorkerPhase phase, const std::string& detail) {
    client().wait_until([&] {
      for (const auto& heard : client().heartbeats)
        if (heard.state == phase && heard.detail.find(detail) != std::string::npos) return true;
      return false;
    });
  };
  client().hello();
  beat(WorkerPhase::ready, "");
  const auto running = begun("until_cancelled");
  beat(WorkerPhase::busy, "until_cancelled BLOCK_M=32 on emulated:l4: emulating, ");
  client().cancel(running);
  client().wait(running);
}

TEST_F(SupervisorTest, AGreetingAsksForReadingsUnlessSomethingRuns) {
  options_.executor_argv.emplace_back("reads");
  client().hello();
  const auto last_clock = [&] {
    double clock = 0;
    for (const auto& heard : client().heartbeats)
      for (const GpuReading& one : heard.gpus) clock = one.clock_mhz;
    return clock;
  };
  client().wait_until([&] { return last_clock() == 1; });
  const auto running = begun("until_cancelled");
  client().send(protocol::Hello{});
  client().send(protocol::Hello{});
  client().cancel(running);
  client().wait(running);
  EXPECT_EQ(last_clock(), 1) << "nothing is read meanwhile";
  client().send(protocol::Hello{});
  client().wait_until([&] { return last_clock() == 2; });
}

TEST_F(SupervisorTest, WhatAnExecutorLeftInASessionOfItsOwnIsEnded) {
  options_.whole_process = true;
  const pid_t stray = who(client().run_and_wait(telling("stray")));
  ASSERT_GT(stray, 1);
  for (int look = 0; look < 30000 && kill(stray, 0) == 0; ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_NE(kill(stray, 0), 0) << "its parent has gone, and no other process ends it";
  expect_the_next_runs();
  const pid_t last = who(client().run_and_wait(telling("stray")));
  ASSERT_GT(last, 1);
  stop();
  EXPECT_NE(kill(last, 0), 0) << "the supervisor leaves nothing behind";
}

TEST_F(SupervisorTest, MoreRequestsThanASessionEverHasAreRefusedNotKept) {
  std::vector<protocol::Id> ids;
  const auto first = begun("until_cancelled");
  for (int i = 0; i < 1100; ++i) ids.push_back(client().run(telling("answer")));
  const Answer refused = client().wait(ids.back());
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::protocol);
  EXPECT_THAT(refused.failure->message, HasSubstr("too many requests"));
  client().cancel(first);
  EXPECT_FALSE(client().wait(ids.front()).failure);
}

TEST_F(SupervisorTest, TwoHundredAlternationsLoseNoRequest) {
  options_.cancel_grace_ms = 60;  // a hung executor does not stop on request
  const char* words[] = {"answer", "crash", "answer", "hang"};
  std::vector<protocol::Id> ids;
  // Only the hung executor has a short deadline: on a starved machine the others must not end.
  for (int i = 0; i < 200; ++i)
    ids.push_back(client().run(telling(words[i % 4]), {.emulated_ms = i % 4 == 3 ? 60 : 60000}));
  for (const auto id : ids) client().wait(id);
  int good = 0, ended = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Answer& answer = client().answer(ids[i]);
    EXPECT_EQ(answer.times_done, 1) << i;
    const Stage expected = i % 4 == 1 ? Stage::crash : Stage::deadline;
    if (i % 2 == 0) {
      EXPECT_FALSE(answer.failure) << i << ": " << answer.failure->message;
      good += !answer.failure;
    } else {
      ASSERT_TRUE(answer.failure) << i;
      EXPECT_EQ(answer.failure->stage, expected) << i;
      ++ended;
    }
  }
  EXPECT_EQ(good, 100);
  EXPECT_EQ(ended, 100);
}

}  // namespace
}  // namespace attnscope::worker
