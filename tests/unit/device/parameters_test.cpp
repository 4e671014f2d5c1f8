#include "device/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace attnscope::device {
namespace {

using testing::HasSubstr;

// The layout that the driver gives parameters: each aligned to its size.
compile::CubinKernel kernel_with(const std::vector<uint32_t>& sizes) {
  compile::CubinKernel kernel;
  kernel.name = "attention";
  uint32_t at = 0;
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    at = (at + sizes[i] - 1) / sizes[i] * sizes[i];
    kernel.parameters.push_back({.ordinal = i, .offset = at, .size = sizes[i]});
    at += sizes[i];
  }
  kernel.parameter_bytes = at;
  return kernel;
}

template <class T>
T value_at(const std::vector<std::byte>& block, size_t offset) {
  T value;
  std::memcpy(&value, block.data() + offset, sizeof value);
  return value;
}

TEST(Parameters, StandWhereTheKernelExpectsThem) {
  Problem problem;
  problem.seq_q = 333;
  problem.scale = 0.25;
  const std::vector<std::string> args{"q", "seq_q", "o", "scale", "batch"};
  const auto block = pack_parameters(kernel_with({8, 4, 8, 4, 4}), args, problem, {.q = 0x1000, .o = 0x2000});
  ASSERT_TRUE(block);
  EXPECT_EQ(block->size(), 32u);
  EXPECT_EQ(value_at<uint64_t>(*block, 0), 0x1000u);
  EXPECT_EQ(value_at<int32_t>(*block, 8), 333);
  EXPECT_EQ(value_at<uint64_t>(*block, 16), 0x2000u);
  EXPECT_EQ(value_at<float>(*block, 24), 0.25f);
  EXPECT_EQ(value_at<int32_t>(*block, 28), 1);
}

TEST(Parameters, MismatchesAreNamed) {
  auto wrong_count = pack_parameters(kernel_with({8, 8}), std::vector<std::string>{"q"}, {}, {});
  ASSERT_FALSE(wrong_count);
  EXPECT_EQ(wrong_count.error().stage, Stage::launch);
  EXPECT_THAT(wrong_count.error().message, HasSubstr("2 parameters"));
  auto wrong_size = pack_parameters(kernel_with({8}), std::vector<std::string>{"seq_q"}, {}, {});
  ASSERT_FALSE(wrong_size);
  EXPECT_THAT(wrong_size.error().message, HasSubstr("\"seq_q\""));
  auto unknown = pack_parameters(kernel_with({4}), std::vector<std::string>{"rm -rf"}, {}, {});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("rm -rf"));
  Problem problem;
  problem.seq_k = int64_t{1} << 31;
  auto too_large = pack_parameters(kernel_with({4}), std::vector<std::string>{"seq_k"}, problem, {});
  ASSERT_FALSE(too_large);
  EXPECT_THAT(too_large.error().message, HasSubstr("seq_k = 2147483648"));
}

}  // namespace
}  // namespace attnscope::device
