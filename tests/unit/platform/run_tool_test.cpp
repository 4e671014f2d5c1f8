#include "platform/run_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <set>

#include "support/interruptions.h"
#include "support/temp_dir.h"

namespace attnscope::platform {
namespace {

ToolRun shell(const std::string& script) { return {"/bin/sh", {"-c", script}, {}, 20000, 1 << 20, {}}; }

TEST(RunTool, GivesExitCodeAndBothStreams) {
  auto output = run_tool(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->exit_code, 3);
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
}

TEST(RunTool, HandsItsInputOverAsAFile) {
  const std::string text(300000, 'x');
  ToolRun run{"/bin/sh", {"-c", std::string("wc -c < ") + tool_input + "; head -c 3 " + tool_input}, {}, 20000, 1 << 20,
              {}};
  run.input = std::as_bytes(std::span<const char>(text.data(), text.size()));
  auto output = run_tool(run);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, "300000\nxxx");
}

TEST(RunTool, ItsInputIsAlsoAnOpenDescriptorAtItsStart) {
  ToolRun run = shell("cat <&3");
  const std::string text = "from the start";
  run.input = std::as_bytes(std::span<const char>(text.data(), text.size()));
  const auto output = run_tool(run);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, text);
}

TEST(RunTool, WithoutInputTheFileIsEmpty) {
  const auto output = run_tool(shell(std::string("wc -c < ") + tool_input));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(std::atoi(output->out.c_str()), 0);
  EXPECT_EQ(output->exit_code, 0);
}

// A program sees its three streams, its input, and what this process passes on to every program.
TEST(RunTool, NoOtherDescriptorReachesTheProgram) {
  constexpr int most = 40;
  std::string expected = "3\n";
  for (int fd = 4; fd < most; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) expected += std::to_string(fd) + "\n";
  }
  const auto output = run_tool(shell("fd=3; while [ $fd -lt " + std::to_string(most) +
                                     " ]; do [ -e /proc/$$/fd/$fd ] && echo $fd; fd=$((fd+1)); done"));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, expected);
}

TEST(RunTool, TheProgramIsOfOurGroupAndFoundInThePath) {
  const auto output = run_tool({"sh", {"-c", "cut -d' ' -f5 /proc/self/stat"}, {}, 20000, 1 << 20, {}});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(std::atoi(output->out.c_str()), getpgrp());
}

TEST(RunTool, HasNoStandardInput) {
  testing_support::TempDir dir;
  const int ours = dup(0), file = open(dir.write("input", "ours").c_str(), O_RDONLY);
  ASSERT_EQ(dup2(file, 0), 0);
  auto output = run_tool({"/bin/cat", {}, {}, 20000, 1 << 20, {}});
  ours >= 0 ? dup2(ours, 0) : close(0);
  close(ours);
  close(file);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out, "");
}

TEST(RunTool, ReadsMuchFromBothStreamsAtOnce) {
  auto output =
      run_tool(shell("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
                     "echo 0123456789012345678901234567890123456789 >&2; i=$((i+1)); done"));
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out.size(), 3000u * 41);
  EXPECT_EQ(output->err.size(), 3000u * 41);
}

TEST(RunTool, AddsToTheEnvironmentAndReplacesNothing) {
  ToolRun run = shell("echo \"$ATTNSCOPE_ADDED $HOME\"");
  run.environment = {"ATTNSCOPE_ADDED=yes", "HOME=/elsewhere"};
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "/elsewhere";
  auto output = run_tool(run);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out, "yes " + home + "\n");
}

TEST(RunTool, EndsAProgramPastItsDeadline) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // the program has it open while it runs
  ToolRun run = shell("exec sleep 1000");
  run.deadline_ms = 100;
  auto output = run_tool(run);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().stage, Stage::deadline);
  EXPECT_EQ(output.error().message, "/bin/sh did not end within 100 ms.");
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "the program still runs";
  close(ends[0]);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the program was not waited for";
  EXPECT_EQ(errno, ECHILD);
}

TEST(RunTool, WhatAProgramStartedEndsWithIt) {
  for (const bool in_time : {true, false}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);  // what the program starts keeps it open
    ToolRun run = shell(in_time ? "sleep 1000 >&- 2>&- &" : "sleep 1000; true");
    run.starts_others = true;
    run.deadline_ms = in_time ? 20000 : 100;
    EXPECT_EQ(run_tool(run).has_value(), in_time);
    close(ends[1]);
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 0) << "sleep still runs";
    close(ends[0]);
  }
}

TEST(RunTool, ReplacesWhatTheEnvironmentHas) {
  ToolRun run = shell("echo \"$HOME $ATTNSCOPE_ADDED\"");
  run.replaced = {"HOME=/elsewhere", "ATTNSCOPE_ADDED="};
  const auto output = run_tool(run);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out, "/elsewhere \n");
}

TEST(RunTool, NoFileGrowsPastItsLimit) {
  const testing_support::TempDir dir;
  ToolRun run = shell("sleep 0.1; yes > " + (dir.path() / "grown").string());
  run.max_file_bytes = 1 << 16;
  const auto output = run_tool(run);
  EXPECT_TRUE(!output || output->exit_code != 0);
  EXPECT_EQ(std::filesystem::file_size(dir.path() / "grown"), 1u << 16);
}

TEST(RunTool, RefusesEndlessOutput) {
  auto output = run_tool(shell("exec yes"));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().stage, Stage::internal);
  EXPECT_EQ(output.error().message, "/bin/sh printed over 1048576 bytes.");
}

TEST(RunTool, TheLimitOfTheOutputIsEachStreamsOwn) {
  ToolRun run = shell("printf 1234567890; printf 1234567890 >&2");
  run.max_output_bytes = 10;
  EXPECT_TRUE(run_tool(run));
  for (const char* more : {"printf 12345678901", "printf 12345678901 >&2"}) {
    run.arguments = {"-c", more};
    EXPECT_FALSE(run_tool(run)) << more;
  }
}

TEST(RunTool, SignalsDoNotInterruptIt) {
  const testing_support::Interruptions interruptions;
  // One interruption while waiting for its output, one while waiting for its end.
  auto output = run_tool(shell("sleep 0.05; echo out; exec >&- 2>&-; sleep 0.05; exit 3"));
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->exit_code, 3);
}

TEST(RunTool, ASignalThatWeBlockReachesTheProgram) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  auto output = run_tool(shell("kill -TERM $$; echo still here"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("signal 15"), std::string::npos);
}

TEST(RunTool, ASignalThatWeIgnoreEndsTheProgram) {
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    const auto before = signal(number, SIG_IGN);
    auto output = run_tool(shell("kill -" + std::to_string(number) + " $$; echo still here"));
    signal(number, before);
    ASSERT_FALSE(output) << number;
    EXPECT_NE(output.error().message.find("signal " + std::to_string(number)), std::string::npos);
  }
}

TEST(RunTool, WhereverDescriptorsRunOutThatIsTheReason) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  Result<ToolOutput> output;
  std::set<std::string> missing;
  for (rlim_t allowed = 0; allowed < 64; ++allowed) {
    const rlimit few{allowed, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    output = run_tool(shell("echo ran"));
    setrlimit(RLIMIT_NOFILE, &before);
    if (output) break;
    EXPECT_EQ(output.error().hint, "Close other programs, or raise `ulimit -n`.") << output.error().message;
    const std::string start = "/bin/sh could not be run: ", message = output.error().message;
    ASSERT_TRUE(message.starts_with(start)) << message;
    missing.insert(message.substr(start.size(), message.rfind(": ") - start.size()));
  }
  ASSERT_TRUE(output) << "not even with 64";
  EXPECT_EQ(output->out, "ran\n");
  EXPECT_THAT(missing, testing::ElementsAre("no descriptor", "no memory file", "no pipe"));
}

TEST(RunTool, NamesAProgramThatIsNotThereOrWasEnded) {
  auto output = run_tool({"/nowhere/tool", {}, {}, 20000, 1 << 20, {}});
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("/nowhere/tool"), std::string::npos);
  EXPECT_NE(output.error().hint.find("may be executed"), std::string::npos);
  EXPECT_EQ(output.error().stage, Stage::internal);
  EXPECT_NE(output.error().message.find("it did not start: No such file or directory"), std::string::npos);
  output = run_tool(shell("kill -9 $$"));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().stage, Stage::internal);
  EXPECT_EQ(output.error().message, "/bin/sh was ended by signal 9 (Killed).");
}

}  // namespace
}  // namespace attnscope::platform
