#include "device/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "check/inputs.h"

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
  const auto args = attention_arguments(std::vector<std::string>{"q", "seq_q", "o", "scale", "batch"}, problem);
  ASSERT_TRUE(args);
  const std::vector<uint64_t> addresses{0x1000, 0, 0, 0x2000};
  const auto block = pack_parameters(kernel_with({8, 4, 8, 4, 4}), *args, addresses);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->size(), 32u);
  EXPECT_EQ(value_at<uint64_t>(*block, 0), 0x1000u);
  EXPECT_EQ(value_at<int32_t>(*block, 8), 333);
  EXPECT_EQ(value_at<uint64_t>(*block, 16), 0x2000u);
  EXPECT_EQ(value_at<float>(*block, 24), 0.25f);
  EXPECT_EQ(value_at<int32_t>(*block, 28), 1);
}

TEST(Parameters, TheMaskIsTheMacrosNumber) {
  Problem problem;
  for (const auto& [causal, number] : {std::pair{Causal::none, 0}, {Causal::top_left, 1}, {Causal::bottom_right, 2}}) {
    problem.causal = causal;
    const auto args = attention_arguments(std::vector<std::string>{"causal"}, problem);
    ASSERT_TRUE(args) << args.error().message;
    const auto block = pack_parameters(kernel_with({4}), *args, {});
    ASSERT_TRUE(block);
    EXPECT_EQ(value_at<int32_t>(*block, 0), number);
  }
}

TEST(Parameters, EachSizeAndTensorIsItsOwn) {
  Problem problem;
  problem.batch = 2;
  problem.heads = 6;
  problem.kv_heads = 3;
  problem.seq_q = 100;
  problem.seq_k = 200;
  problem.head_dim = 64;
  const std::vector<uint64_t> addresses{11, 12, 13, 14};
  const auto block = [&](std::vector<std::string> args, std::vector<uint32_t> sizes) {
    return pack_parameters(kernel_with(sizes), attention_arguments(args, problem).value(), addresses).value();
  };
  const auto tensors = block({"q", "k", "v", "o"}, {8, 8, 8, 8});
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(value_at<uint64_t>(tensors, 8 * i), addresses[i]);
  const auto sizes = block({"batch", "heads", "kv_heads", "seq_q", "seq_k"}, {4, 4, 4, 4, 4});
  const int32_t wanted[] = {2, 6, 3, 100, 200};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(value_at<int32_t>(sizes, 4 * i), wanted[i]);
}

TEST(Parameters, AStructHasItsBuffersAddresses) {
  ArgumentValue pair;
  pair.name = "pair";
  pair.bytes.resize(24, std::byte{7});
  pair.addresses = {{0, 1}, {16, 0}};
  compile::CubinKernel kernel = kernel_with({8});
  kernel.parameters[0].size = kernel.parameter_bytes = 24;
  const auto block = pack_parameters(kernel, std::vector{pair}, std::vector<uint64_t>{11, 12});
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_EQ(value_at<uint64_t>(*block, 0), 12u);
  EXPECT_EQ(value_at<uint64_t>(*block, 8), 0x0707070707070707u);
  EXPECT_EQ(value_at<uint64_t>(*block, 16), 11u);
  pair.addresses[0].offset = 100;
  EXPECT_EQ(value_at<uint64_t>(*pack_parameters(kernel, std::vector{pair}, std::vector<uint64_t>{11, 12}), 0), 112u);
  kernel.parameter_bytes = 23;
  const auto refused = pack_parameters(kernel, std::vector{pair}, std::vector<uint64_t>{11, 12});
  ASSERT_FALSE(refused) << "the parameter does not fit its block";
  EXPECT_EQ(refused.error().stage, Stage::launch);
  EXPECT_EQ(refused.error().message, "attention declares parameter 0 with 24 bytes; \"pair\" has 24");
}

TEST(Parameters, AnAddressMayBeWithinABuffer) {
  ArgumentValue x;
  x.name = "x";
  x.operand = 1;
  x.offset = 48;
  const auto block = pack_parameters(kernel_with({8}), std::vector{x}, std::vector<uint64_t>{11, 4096});
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_EQ(value_at<uint64_t>(*block, 0), 4144u);
}

TEST(Parameters, AttentionIsBoundToItsFourBuffersAndItsArguments) {
  LaunchRequest request;
  request.problem.heads = request.problem.kv_heads = 1;
  request.problem.seq_q = request.problem.seq_k = 16;
  request.inputs = std::make_shared<const check::AttentionInputs>(*check::make_inputs(request.problem));
  request.args = {"o", "seq_q"};
  const auto bound = bind(request);
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_EQ(bound->operands->all.size(), 4u);
  ASSERT_EQ(bound->arguments.size(), 2u);
  EXPECT_EQ(bound->arguments[1].name, "seq_q");
  request.args = {"o", "no_such_size"};
  const auto refused = bind(request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no_such_size"));
}

TEST(Parameters, MismatchesAreNamed) {
  const std::vector<uint64_t> addresses(4);
  const auto pack = [&](const std::vector<uint32_t>& sizes, const char* name, const Problem& of = {}) {
    auto arguments = attention_arguments(std::vector<std::string>{name}, of);
    return arguments ? pack_parameters(kernel_with(sizes), *arguments, addresses) : fail(arguments.error());
  };
  auto wrong_count = pack({8, 8}, "q");
  ASSERT_FALSE(wrong_count);
  EXPECT_EQ(wrong_count.error().stage, Stage::launch);
  EXPECT_THAT(wrong_count.error().message, HasSubstr("2 parameters"));
  auto wrong_size = pack({8}, "seq_q");
  ASSERT_FALSE(wrong_size);
  EXPECT_THAT(wrong_size.error().message, HasSubstr("\"seq_q\""));
  auto unknown = pack({4}, "rm -rf");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("rm -rf"));
  Problem problem;
  problem.seq_k = int64_t{1} << 31;
  auto too_large = pack({4}, "seq_k", problem);
  ASSERT_FALSE(too_large);
  EXPECT_THAT(too_large.error().message, HasSubstr("seq_k = 2147483648"));
  --problem.seq_k;
  EXPECT_TRUE(pack({4}, "seq_k", problem)) << "the largest int";
}

TEST(Parameters, ASizeIsAsWideAsTheKernelDeclaresIt) {
  ArgumentValue size, bytes;
  size.name = "n";
  size.whole = int64_t{1} << 33;
  bytes.name = "pair";
  bytes.bytes.resize(12, std::byte{7});
  const std::vector<ArgumentValue> args{size, bytes};
  compile::CubinKernel kernel = kernel_with({8, 4});
  kernel.parameters[1].size = 12;
  kernel.parameter_bytes = 20;
  const auto block = pack_parameters(kernel, args, {});
  ASSERT_TRUE(block);
  EXPECT_EQ(value_at<int64_t>(*block, 0), int64_t{1} << 33);
  EXPECT_EQ(block->back(), std::byte{7});
  EXPECT_FALSE(pack_parameters(kernel_with({4, 4}), args, {})) << "2^33 is no int";
}

}  // namespace
}  // namespace attnscope::device
