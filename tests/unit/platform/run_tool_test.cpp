#include "platform/run_tool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

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

TEST(RunTool, HasNoStandardInput) {
  auto output = run_tool({"/bin/cat", {}, {}, 20000, 1 << 20, {}});
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
  ToolRun run = shell("exec sleep 1000");
  run.deadline_ms = 100;
  auto output = run_tool(run);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().stage, Stage::deadline);
  EXPECT_NE(output.error().message.find("/bin/sh"), std::string::npos);
}

TEST(RunTool, RefusesEndlessOutput) {
  auto output = run_tool(shell("exec yes"));
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("printed over"), std::string::npos);
}

TEST(RunTool, NamesAProgramThatIsNotThereOrWasEnded) {
  auto output = run_tool({"/nowhere/tool", {}, {}, 20000, 1 << 20, {}});
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("/nowhere/tool"), std::string::npos);
  output = run_tool(shell("kill -9 $$"));
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("signal 9"), std::string::npos);
}

}  // namespace
}  // namespace attnscope::platform
