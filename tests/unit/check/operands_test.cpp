#include "check/operands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "check/philox.h"
#include "platform/memory.h"

namespace attnscope::check {
namespace {

Problem custom() {
  Problem problem;
  problem.kind = ProblemKind::custom;
  problem.distribution = Distribution::uniform;
  problem.seed = 7;
  return problem;
}

std::vector<double> values(const OperandContents& one) {
  std::vector<double> all;
  for (int64_t i = 0; i < one.what.elements(); ++i) all.push_back(load_value(one.what.type, one.bytes.data(), i));
  return all;
}

TEST(Operands, AValueGoesThroughEachType) {
  for (const auto& [type, value] : {std::pair{ElementType::f16, 1.5},
                                    {ElementType::bf16, -2.5},
                                    {ElementType::f32, 0.1f},
                                    {ElementType::f64, 0.1},
                                    {ElementType::i32, -70000.0},
                                    {ElementType::u32, 4e9},
                                    {ElementType::i64, -1e12},
                                    {ElementType::u8, 200.0},
                                    {ElementType::i8, -100.0},
                                    {ElementType::i16, -30000.0},
                                    {ElementType::u16, 60000.0}}) {
    std::vector<std::byte> bytes(3 * bytes_of(type));
    store_value(type, bytes.data(), 1, value);
    EXPECT_EQ(load_value(type, bytes.data(), 1), value) << to_string(type);
    EXPECT_EQ(load_value(type, bytes.data(), 0), 0) << to_string(type);
    EXPECT_EQ(load_value(type, bytes.data(), 2), 0) << to_string(type);
  }
  std::byte byte;
  store_value(ElementType::u8, &byte, 0, 257);
  EXPECT_EQ(byte, std::byte{1}) << "a whole number wraps";
}

TEST(Operands, PoisonIsANumberThatNoKernelWrites) {
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    std::vector<std::byte> bytes(16);
    fill_poison(type, bytes);
    for (int64_t i = 0; i < 16 / bytes_of(type); ++i)
      EXPECT_TRUE(std::isnan(load_value(type, bytes.data(), i))) << to_string(type);
  }
  // Each is a signalling NaN: arithmetic makes only quiet ones, whose first bit of the fraction is set.
  std::vector<std::byte> single(8), twice(16);
  fill_poison(ElementType::f32, single);
  uint32_t word[2];
  std::memcpy(word, single.data(), 8);
  EXPECT_EQ(word[0], kPoison32);
  EXPECT_EQ(word[1], kPoison32);
  fill_poison(ElementType::f64, twice);
  uint64_t wide[2];
  std::memcpy(wide, twice.data(), 16);
  for (const uint64_t one : wide) EXPECT_EQ(one & 0x7ff8000000000000u, 0x7ff0000000000000u);
  for (const ElementType type : {ElementType::i32, ElementType::u32, ElementType::i64, ElementType::u8, ElementType::i8,
                                 ElementType::i16, ElementType::u16}) {
    std::vector<std::byte> bytes(16);
    fill_poison(type, bytes);
    for (int64_t i = 0; i < 16 / bytes_of(type); ++i)
      EXPECT_NE(load_value(type, bytes.data(), i), 0) << to_string(type);
  }
}

TEST(Operands, NoElementsArePoisonedWithoutFault) {
  for (const ElementType type : {ElementType::f16, ElementType::f32, ElementType::u8, ElementType::f64})
    fill_poison(type, std::span<std::byte>{});  // its data() is null
}

TEST(Operands, EachHoldsWhatItsInitSays) {
  Workload work;
  const auto with = [&](const char* name, BufferRole role, ElementType type, BufferInit init) {
    work.operands.push_back({name, role, type, {1000}, init});
  };
  with("zeros", BufferRole::in, ElementType::f32, {BufferInit::Kind::zeros, {}, {}});
  with("ones", BufferRole::inout, ElementType::f16, {BufferInit::Kind::ones, {}, {}});
  with("iota", BufferRole::workspace, ElementType::i32, {BufferInit::Kind::iota, {}, {}});
  with("range", BufferRole::in, ElementType::f32, {BufferInit::Kind::random, 3, 5});
  with("dice", BufferRole::in, ElementType::u8, {BufferInit::Kind::random, 1, 6});
  with("hundred", BufferRole::in, ElementType::i32, {BufferInit::Kind::random, {}, {}});
  with("uniform", BufferRole::in, ElementType::f32, {BufferInit::Kind::random, {}, {}});
  with("out", BufferRole::out, ElementType::f32, {BufferInit::Kind::ones, {}, {}});
  with("least", BufferRole::inout, ElementType::f16, {BufferInit::Kind::fill, -HUGE_VAL, {}});
  with("filled", BufferRole::in, ElementType::i8, {BufferInit::Kind::fill, -7, {}});
  const auto made = make_operands(work, custom());
  ASSERT_TRUE(made);
  const auto of = [&](size_t at) { return values((*made)->all[at]); };
  std::vector<double> iota(1000);
  std::iota(iota.begin(), iota.end(), 0);
  EXPECT_EQ(of(0), std::vector<double>(1000, 0));
  EXPECT_EQ(of(1), std::vector<double>(1000, 1));
  EXPECT_EQ(of(2), iota);
  EXPECT_EQ(of(8), std::vector<double>(1000, -HUGE_VAL));
  EXPECT_EQ(of(9), std::vector<double>(1000, -7));
  const auto within = [&](size_t at, double low, double high) {
    const auto all = of(at);
    EXPECT_GE(std::ranges::min(all), low);
    EXPECT_LE(std::ranges::max(all), high);
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    EXPECT_NEAR(sum / 1000, (low + high) / 2, (high - low) / 20);
    return all;
  };
  within(3, 3, 5);
  const auto dice = within(4, 1, 6);
  for (const double face : {1, 2, 3, 4, 5, 6})
    EXPECT_NEAR(double(std::ranges::count(dice, face)), 1000 / 6.0, 60) << face;
  within(5, 0, 99);
  within(6, -1, 1);
  EXPECT_TRUE(std::isnan(of(7)[999])) << "an output is poisoned whatever its init";
  // Buffer i draws from stream 16 + i, four numbers a block: the first 24 bits of each are the uniform.
  const auto block = philox_block(7, 16 + 3, 2);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(of(3)[8 + i], static_cast<double>(static_cast<float>(3 + 2 * (double(block[i] >> 8) / 16777216)))) << i;
}

TEST(Operands, AReadOnlyOneIsHashedAndOthersAreNot) {
  Workload work;
  work.operands = {{"a", BufferRole::in, ElementType::f32, {4}, {}},
                   {"b", BufferRole::out, ElementType::f32, {4}, {}},
                   {"c", BufferRole::inout, ElementType::f32, {4}, {}},
                   {"d", BufferRole::in, ElementType::f32, {4}, {}}};
  const auto made = make_operands(work, custom());
  ASSERT_TRUE(made);
  auto hashes = hash_read_only(**made);
  EXPECT_FALSE(hashes[0].empty());
  EXPECT_TRUE(hashes[1].empty() && hashes[2].empty());
  EXPECT_NE(hashes[0], hashes[3]) << "each has its own stream";
  auto after = hashes;
  EXPECT_TRUE(check_read_only(**made, hashes, after));
  after[3] = "other";
  const auto refused = check_read_only(**made, hashes, after);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the kernel wrote to its input d");
}

TEST(Operands, MoreThanTheMachineHasIsRefused) {
  platform::inject_available_memory(1000);
  Workload work;
  work.operands = {{"a", BufferRole::in, ElementType::f32, {125}, {}},
                   {"b", BufferRole::out, ElementType::f32, {125}, {}}};
  EXPECT_TRUE(make_operands(work, custom()));
  work.operands[1].shape = {126};
  const auto refused = make_operands(work, custom());
  platform::inject_available_memory(std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::limits);
}

}  // namespace
}  // namespace attnscope::check
