// Kernels, processes, caches and disks that fail: each gives a Failure that names its cause, and the next experiment
// runs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "catalog/catalog.h"
#include "faults/support/worker_fixture.h"
#include "platform/run_tool.h"
#include "support/temp_dir.h"

namespace attnscope::testing_support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Faults : public WorkerTest {
 protected:
  // Small enough that a run takes some milliseconds.
  Experiment good() {
    client().offer(minimal_);
    Experiment experiment = experiment_of(minimal_);
    experiment.problem.heads = experiment.problem.kv_heads = 1;
    experiment.problem.seq_q = experiment.problem.seq_k = 32;
    return experiment;
  }
  Experiment faulty(const std::string& name) {
    const Kernel kernel = shipped_kernel("tests/mutants/" + name + "/" + name + ".json");
    client().offer(kernel);
    return experiment_of(kernel);
  }
  void expect_the_next_runs() {
    const Answer answer = client().run_and_wait(good());
    ASSERT_FALSE(answer.failure) << answer.failure->message << " " << answer.failure->hint;
    EXPECT_EQ(answer.observation.verdict->state, VerdictState::correct);
    EXPECT_EQ(answer.times_done, 1);
  }
  // The endless kernel, once the emulator runs it. Only a signal or a cancel ends it.
  protocol::Id looping() {
    const auto id = client().run(faulty("endless"), {.compile_ms = 600000, .emulated_ms = 600000});
    client().wait_until([&] {
      const auto& steps = client().answer(id).progress;
      return client().answer(id).done() || (!steps.empty() && steps.back().step == protocol::Step::emulating);
    });
    EXPECT_FALSE(client().answer(id).done()) << client().answer(id).failure->message;
    return id;
  }
  // Reports how long it took; the test depends only on a limit of one minute.
  void wait_for_the_end_of(const std::vector<int>& pids, const char* what = nullptr) {
    const auto begin = std::chrono::steady_clock::now();
    for (const int pid : pids)
      for (int i = 0; i < 30000 && alive(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    for (const int pid : pids) EXPECT_FALSE(alive(pid)) << pid;
    if (what != nullptr) std::printf("%s: every executor is gone after %.0f ms (measured)\n", what, took.count());
  }
  static bool alive(int pid) {
    const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
    const size_t after = stat.rfind(") ");
    return after != std::string::npos && stat[after + 2] != 'Z';
  }

  const Kernel minimal_ = shipped_kernel("kernels/01_minimal.json");
};

TEST_F(Faults, AnExecutorKilledInMidRun) {
  expect_the_next_runs();
  const auto id = looping();
  for (const int pid : executors()) kill(pid, SIGKILL);  // the spare too, so a third one must start
  const Answer& killed = client().wait(id);
  ASSERT_TRUE(killed.failure);
  EXPECT_EQ(killed.failure->stage, Stage::crash);
  EXPECT_THAT(killed.failure->message, HasSubstr("endless ROWS=1 on emulated:l4"));
  EXPECT_THAT(killed.failure->message, HasSubstr("signal 9"));
  expect_the_next_runs();
  EXPECT_EQ(client().answer(id).times_done, 1);
}

TEST_F(Faults, AnExecutorStoppedInMidRun) {
  const auto id = client().run(faulty("endless"), {.compile_ms = 60000, .emulated_ms = 1500});
  client().wait_until([&] {
    const auto& steps = client().answer(id).progress;
    return !steps.empty() && steps.back().step == protocol::Step::emulating;
  });
  for (const int pid : executors()) kill(pid, SIGSTOP);
  ASSERT_TRUE(client().wait(id).failure);
  EXPECT_EQ(client().answer(id).failure->stage, Stage::deadline);
  expect_the_next_runs();
}

TEST_F(Faults, TheEndOfInputEndsARunningKernel) {
  looping();
  const std::vector<int> all = executors();
  ASSERT_FALSE(all.empty());
  client().close_input();
  wait_for_the_end_of(all, "end of input");
  wait_for_the_end_of({client().pid()});
}

// A client on this machine and a worker on another: ssh is two processes between them that pass on what they read.
TEST_F(Faults, AClientThatIsKilledTakesAFarKernelAlong) {
  command_ = {"sh", "-c", "cat | \"$0\" worker | cat", ATTNSCOPE_WORKER};
  int told[2];
  ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
  const pid_t killed = fork();
  if (killed == 0) {  // the client: runs the endless kernel, names its executors, and waits to be killed
    looping();
    std::vector<int> far;
    for (const int pid : descendants_of(client().pid())) {
      const std::string line = read_text("/proc/" + std::to_string(pid) + "/cmdline");
      if (line.find("--executor") != std::string::npos) far.push_back(pid);
    }
    const auto bytes = static_cast<ssize_t>(far.size() * sizeof(int));
    if (write(told[1], far.data(), static_cast<size_t>(bytes)) == bytes)
      for (;;) pause();
    _exit(1);
  }
  close(told[1]);
  std::vector<int> far(64);
  const ssize_t got = read(told[0], far.data(), far.size() * sizeof(int));
  close(told[0]);
  ASSERT_GT(got, 0) << "the client did not get as far as running the kernel";
  far.resize(static_cast<size_t>(got) / sizeof(int));
  for (const int pid : far) EXPECT_TRUE(alive(pid));
  kill(killed, SIGKILL);
  wait_for_the_end_of(far, "client killed behind a relay");
  waitpid(killed, nullptr, 0);
}

TEST_F(Faults, OnAFullDiskEverythingRunsAndNothingIsCached) {
  const auto with_full_home = [](const std::string& then) {
    return std::vector<std::string>{"unshare",
                                    "--user",
                                    "--map-root-user",
                                    "--mount",
                                    "sh",
                                    "-c",
                                    "mount -t tmpfs -o size=8k none \"$ATTNSCOPE_HOME\" && " + then,
                                    ATTNSCOPE_WORKER};
  };
  const std::vector<std::string> words = with_full_home("true");
  platform::ToolRun trial;
  trial.program = words.front();
  trial.arguments.assign(words.begin() + 1, words.end());
  const auto probe = platform::run_tool(trial);
  if (!probe || probe->exit_code != 0) GTEST_SKIP() << "this user may not mount a small file system";
  command_ = with_full_home("exec \"$0\" worker");
  for (int round = 0; round < 2; ++round) {
    const Answer answer = client().run_and_wait(good());
    ASSERT_FALSE(answer.failure) << answer.failure->message;
    EXPECT_EQ(answer.observation.verdict->state, VerdictState::correct);
    EXPECT_FALSE(answer.observation.variant->cached);
    EXPECT_THAT(answer.observation.variant->log, HasSubstr("could not be kept"));
  }
}

TEST_F(Faults, ASupervisorThatIsKilledTakesItsExecutorsAlong) {
  looping();
  std::vector<int> all = executors();
  ASSERT_FALSE(all.empty());
  all.push_back(client().pid());
  kill(supervisor(), SIGKILL);
  wait_for_the_end_of(all);
}

TEST_F(Faults, AKeeperThatIsKilledTakesItsSupervisorAlong) {
  looping();
  std::vector<int> all = executors();
  ASSERT_FALSE(all.empty());
  all.push_back(supervisor());
  kill(client().pid(), SIGKILL);
  wait_for_the_end_of(all);
}

TEST_F(Faults, ASupervisorThatIsAskedToLeaveTakesItsExecutorsAlongAndSaysWhy) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    signal(number, SIG_DFL);  // a worker also ignores a signal that this process ignores
    looping();
    const std::vector<int> all = executors();
    ASSERT_FALSE(all.empty());
    kill(client().pid(), number);
    siginfo_t ended{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(client().pid()), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(ended.si_code, CLD_KILLED);
    EXPECT_EQ(ended.si_status, number);
    for (const int pid : all) EXPECT_FALSE(alive(pid)) << "it ends them before itself";
    restart();
  }
}

TEST_F(Faults, AnExecutorThatIsAskedToLeaveIsACrashThatSaysSo) {
  const auto id = looping();
  for (const int pid : executors()) kill(pid, SIGTERM);
  ASSERT_TRUE(client().wait(id).failure);
  EXPECT_EQ(client().answer(id).failure->stage, Stage::crash);
  EXPECT_THAT(client().answer(id).failure->message, HasSubstr("signal 15"));
  expect_the_next_runs();
}

TEST_F(Faults, AnEndlessLoopEndsAtTheDeadline) {
  const Answer endless = client().run_and_wait(faulty("endless"), {.compile_ms = 60000, .emulated_ms = 700});
  ASSERT_TRUE(endless.failure);
  EXPECT_EQ(endless.failure->stage, Stage::deadline);
  EXPECT_THAT(endless.failure->message, HasSubstr("endless"));
  EXPECT_THAT(endless.failure->message, HasSubstr("It was at endless.cu:")) << "the loop's line";
  EXPECT_TRUE(endless.observation.variant) << "what came before stands";
  expect_the_next_runs();
}

TEST_F(Faults, CancellingKeepsTheExecutor) {
  expect_the_next_runs();
  client().wait_until([&] { return executors().size() == 2; });
  auto before = executors();
  const auto id = looping();
  client().cancel(id);
  EXPECT_EQ(client().wait(id).failure->stage, Stage::cancelled);
  expect_the_next_runs();
  auto after = executors();
  EXPECT_THAT(after, testing::UnorderedElementsAreArray(before)) << "a cancelled run needs no new process";
}

TEST_F(Faults, AKernelThatDoesNotCompile) {
  const Answer refused = client().run_and_wait(faulty("does_not_compile"));
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::compile);
  EXPECT_THAT(refused.failure->message, HasSubstr("does_not_compile.cu:7"));
  expect_the_next_runs();
}

TEST_F(Faults, AnIllegalAddress) {
  const Answer refused = client().run_and_wait(faulty("illegal_address"));
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::launch);
  EXPECT_THAT(refused.failure->message, HasSubstr("illegal_address.cu:7"));
  expect_the_next_runs();
}

TEST_F(Faults, AManifestWithAWrongExpression) {
  const fs::path folder = fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/mutants/wrong_expression";
  Kernel kernel;  // like a client that does not check first
  kernel.id = "wrong_expression";
  kernel.source = read_text(folder / "wrong_expression.cu");
  kernel.manifest = read_text(folder / "wrong_expression.json");
  kernel.manifest_name = "wrong_expression.json";
  kernel.source_name = "wrong_expression.cu";
  kernel.content_hash = catalog::content_hash(kernel.manifest, kernel.source);
  client().offer(kernel);
  Experiment experiment;
  experiment.kernel = kernel.id;
  experiment.kernel_hash = kernel.content_hash;
  experiment.device = "emulated:l4";
  const Answer refused = client().run_and_wait(experiment);
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::catalog);
  EXPECT_THAT(refused.failure->message, HasSubstr("wrong_expression.json/launch/grid"));
  expect_the_next_runs();
}

TEST_F(Faults, WhatTheClientDidNotCheckIsCheckedAgain) {
  Experiment unknown_knob = good();
  unknown_knob.config.knobs["NO_SUCH_KNOB"] = 1;
  Answer refused = client().run_and_wait(unknown_knob);
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::input);
  EXPECT_THAT(refused.failure->message, HasSubstr("NO_SUCH_KNOB"));
  Experiment unknown_device = good();
  unknown_device.device = "emulated:none";
  refused = client().run_and_wait(unknown_device);
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::device);
  EXPECT_THAT(refused.failure->message, HasSubstr("emulated:none"));
  Experiment unsupported = good();
  unsupported.problem.head_dim = 80;
  refused = client().run_and_wait(unsupported);
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->stage, Stage::input);
  EXPECT_THAT(refused.failure->message, HasSubstr("head_dim"));
  expect_the_next_runs();
}

TEST_F(Faults, TruncatedCacheFilesAreRemade) {
  const Answer first = client().run_and_wait(good());
  ASSERT_FALSE(first.failure) << first.failure->message;
  EXPECT_FALSE(first.observation.variant->cached);
  restart();
  size_t truncated = 0;
  for (const auto& entry : fs::recursive_directory_iterator(home() / "cache"))
    if (entry.is_regular_file() && entry.file_size() > 1) {
      fs::resize_file(entry.path(), entry.file_size() / 2);
      ++truncated;
    }
  EXPECT_GE(truncated, 3u) << "a variant, a decoded program and a reference";
  const Answer second = client().run_and_wait(good());
  ASSERT_FALSE(second.failure) << second.failure->message;
  EXPECT_FALSE(second.observation.variant->cached);
  EXPECT_EQ(second.observation.counters, first.observation.counters);
  EXPECT_EQ(second.observation.verdict, first.observation.verdict);
  restart();
  const Answer third = client().run_and_wait(good());
  EXPECT_TRUE(third.observation.variant->cached) << "what was remade is whole again";
}

TEST_F(Faults, ACacheThatCannotBeWrittenCostsNothingElse) {
  home().write("cache", "a file where the folder should be");
  expect_the_next_runs();
  restart();
  const Answer again = client().run_and_wait(good());
  ASSERT_FALSE(again.failure) << again.failure->message;
  EXPECT_FALSE(again.observation.variant->cached);
  EXPECT_EQ(read_text(home() / "cache"), "a file where the folder should be");
}

TEST_F(Faults, GoodCrashedAndHungInTurnLoseNoRequest) {
  expect_the_next_runs();
  for (int round = 0; round < 8; ++round) {
    const auto hung = client().run(faulty("endless"), {.compile_ms = 60000, .emulated_ms = 300});
    const auto behind = client().run(good());
    const auto third = looping();
    for (const int pid : executors()) kill(pid, SIGKILL);
    const auto last = client().run(good());
    client().wait(last);
    EXPECT_EQ(client().answer(hung).failure->stage, Stage::deadline);
    EXPECT_FALSE(client().answer(behind).failure);
    EXPECT_EQ(client().answer(third).failure->stage, Stage::crash);
    EXPECT_FALSE(client().answer(last).failure) << client().answer(last).failure->message;
    for (const auto id : {hung, behind, third, last}) EXPECT_EQ(client().answer(id).times_done, 1);
  }
}

}  // namespace
}  // namespace attnscope::testing_support
