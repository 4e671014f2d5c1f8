#include "platform/background_tool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/interruptions.h"

namespace attnscope::platform {
namespace {

std::unique_ptr<BackgroundTool> started(const std::vector<std::string>& argv) {
  auto tool = BackgroundTool::start(argv, [] {});
  EXPECT_TRUE(tool) << tool.error().message;
  return tool ? std::move(*tool) : nullptr;
}

int end_of(const BackgroundTool& tool) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!tool.exit_code() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return tool.exit_code().value_or(-1);
}

TEST(BackgroundTool, BothStreamsAreOneOutputAndTheStatusIsTheProgramsOwn) {
  const auto tool = started({"/bin/sh", "-c", "echo one; echo two >&2; exit 7"});
  ASSERT_TRUE(tool);
  EXPECT_EQ(end_of(*tool), 7);
  EXPECT_EQ(tool->output(), "one\ntwo\n");
}

TEST(BackgroundTool, NoWordIsReadAsShell) {
  const auto tool = started({"/bin/echo", "$(echo no) ; 'quoted'", "a b"});
  ASSERT_TRUE(tool);
  EXPECT_EQ(end_of(*tool), 0);
  EXPECT_EQ(tool->output(), "$(echo no) ; 'quoted' a b\n");
}

TEST(BackgroundTool, IsEndedWithWhatItStarted) {
  const auto tool = started({"/bin/sh", "-c", "sleep 1000 & echo ready; wait"});
  ASSERT_TRUE(tool);
  while (tool->output() != "ready\n") std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(tool->exit_code());
  tool->cancel();
  EXPECT_EQ(end_of(*tool), 128 + 9);  // its output ends only when the sleep has ended too
}

TEST(BackgroundTool, SignalsDoNotInterruptIt) {
  const testing_support::Interruptions interruptions;
  const auto tool = started({"/bin/sh", "-c", "sleep 0.05; echo one; exec >&- 2>&-; sleep 0.05; exit 7"});
  const testing_support::WithoutInterruptions here;  // the reading thread gets them
  ASSERT_TRUE(tool);
  EXPECT_EQ(end_of(*tool), 7);
  EXPECT_EQ(tool->output(), "one\n");
}

TEST(BackgroundTool, OfMuchOutputTheEndIsKept) {
  const auto tool = started({"/bin/sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo end"});
  ASSERT_TRUE(tool);
  EXPECT_EQ(end_of(*tool), 0);
  const std::string output = tool->output();
  EXPECT_TRUE(output.ends_with("xend\n"));
  EXPECT_GE(output.size(), 128u << 10);
  EXPECT_LE(output.size(), 256u << 10);
}

TEST(BackgroundTool, AProgramThatIsNotThereSaysSo) {
  const auto tool = started({"/no/such/program"});
  ASSERT_TRUE(tool);
  EXPECT_EQ(end_of(*tool), 127);
  EXPECT_NE(tool->output().find("/no/such/program"), std::string::npos);
}

}  // namespace
}  // namespace attnscope::platform
