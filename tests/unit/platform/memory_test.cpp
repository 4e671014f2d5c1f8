#include "platform/memory.h"

#include <gtest/gtest.h>

namespace attnscope::platform {
namespace {

class Memory : public testing::Test {
 protected:
  ~Memory() override { inject_available_memory(std::nullopt); }
};

TEST_F(Memory, TheSystemSaysWhatIsLeft) {
  const auto left = available_memory();
  ASSERT_TRUE(left);
  EXPECT_GT(*left, 1u << 20);
  EXPECT_LT(*left, uint64_t{1} << 50);
}

TEST_F(Memory, WhatExceedsItIsRefusedWithBothFigures) {
  inject_available_memory(2'000'000'000);
  EXPECT_TRUE(hold_memory(2'000'000'000, "a tensor"));
  const auto refused = hold_memory(3'000'000'001, "a tensor");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::limits);
  EXPECT_EQ(refused.error().message, "a tensor would take 3.0 GB of this machine's memory; 2.0 GB are available");
}

}  // namespace
}  // namespace attnscope::platform
