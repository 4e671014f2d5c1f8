#include "check/inputs.h"

#include "check/operands.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <set>

#include "check/float_formats.h"
#include "check/inputs_simd.h"
#include "check/parallel.h"
#include "check/philox.h"
#include "core/hash.h"

namespace attnscope::check {
namespace {

Problem small() {
  Problem p;
  p.batch = 2, p.heads = 4, p.kv_heads = 2, p.seq_q = 7, p.seq_k = 5, p.head_dim = 20, p.seed = 42;
  return p;
}

// The published known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Inputs, UniformIsThePhiloxStreamItself) {
  // Blocks on both sides of 2^32, where the counter carries into its second word.
  const uint64_t seed = 0x0123456789abcdefu;
  for (uint64_t first : {uint64_t{0}, uint64_t{0xfffffff0}, uint64_t{5} << 32}) {
    std::array<float, 4 * 37> values;
    generate_blocks(Distribution::uniform, seed, 2, first, 37, values.data());
    for (uint64_t block = 0; block < 37; ++block) {
      const auto words = philox_block(seed, 2, first + block);
      for (size_t word = 0; word < 4; ++word) {
        const float expected = static_cast<float>(static_cast<double>(words[word] >> 8) / 8388608.0 - 1.0);
        ASSERT_EQ(values[4 * block + word], expected) << first << " " << block << " " << word;
      }
    }
  }
}

TEST(Inputs, NormalIsBoxMullerOfThePhiloxStream) {
  constexpr size_t kBlocks = 1 << 16;
  std::vector<float> values(4 * kBlocks), large(4 * kBlocks);
  generate_blocks(Distribution::normal, 7, 0, 0, kBlocks, values.data());
  generate_blocks(Distribution::large, 7, 0, 0, kBlocks, large.data());
  double sum = 0, squares = 0;
  for (size_t block = 0; block < kBlocks; ++block) {
    const auto words = philox_block(7, 0, block);
    for (size_t pair = 0; pair < 4; pair += 2) {
      const double u = (double(words[pair] >> 8) + 1) * 0x1p-24, t = double(words[pair + 1] >> 8) * 0x1p-24;
      const double radius = std::sqrt(-2 * std::log(u));
      const size_t at = 4 * block + pair;
      ASSERT_NEAR(values[at], radius * std::cos(2 * M_PI * t), 3e-6) << at;
      ASSERT_NEAR(values[at + 1], radius * std::sin(2 * M_PI * t), 3e-6) << at;
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(large[i], 8 * values[i]);
    sum += values[i], squares += double(values[i]) * values[i];
  }
  EXPECT_NEAR(sum / double(values.size()), 0, 0.01);
  EXPECT_NEAR(squares / double(values.size()), 1, 0.015);
}

TEST(Inputs, TheExtremesOfTheUniformsAreFinite) {
  // Search the stream for the smallest u and for angles in every eighth of a turn: r and the quadrants are where
  // hand-written logarithms and sines go wrong.
  std::set<int> eighths;
  constexpr size_t kBlocks = 1 << 18;
  std::vector<float> values(4 * kBlocks);
  generate_blocks(Distribution::normal, 1, 1, 0, kBlocks, values.data());
  float largest = 0;
  for (size_t i = 0; i < values.size(); i += 2) {
    ASSERT_TRUE(std::isfinite(values[i]) && std::isfinite(values[i + 1]));
    largest = std::max({largest, std::abs(values[i]), std::abs(values[i + 1])});
    eighths.insert(int(std::floor((std::atan2(values[i + 1], values[i]) + M_PI) / (M_PI / 4))));
  }
  EXPECT_GE(eighths.size(), 8u);
  EXPECT_GT(largest, 4.4f);
  EXPECT_LE(largest, 5.78f);
}

// These hashes are the promise "the same on every machine". They change only if the definition of an input changes.
struct Golden {
  Distribution distribution;
  DType dtype;
  const char* hash;
};
const Golden kGolden[] = {
    {Distribution::normal, DType::f16, "82a4014a7a8f59d27aadbd930c54c995"},
    {Distribution::normal, DType::bf16, "764030aefd5e0d85c82469c03853971f"},
    {Distribution::normal, DType::f32, "ac5103ee0c88b7342d1158cb121e1630"},
    {Distribution::uniform, DType::f16, "f9f08f2791d3cb5d04770772a8c4e17e"},
    {Distribution::large, DType::f16, "7660bdec9cf1d75d737a348ff206a4f6"},
    {Distribution::constant, DType::f16, "23987e21597c869439a6e3cdd1d48943"},
};

std::string hash_of_q(Distribution distribution, DType dtype) {
  Problem p;
  p.distribution = distribution;
  p.dtype = dtype;
  p.seed = 20251001;
  std::vector<std::byte> q(static_cast<size_t>(p.q_elements()) * bytes_of(dtype));
  fill_input(p, Tensor::q, q);
  return xxh3_128(q);
}

TEST(Inputs, TheSameBitsAtEverySimdLevel) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    for (const Golden& golden : kGolden)
      EXPECT_EQ(hash_of_q(golden.distribution, golden.dtype), golden.hash)
          << hwy::TargetName(rest & -rest) << " " << to_string(golden.distribution) << " " << to_string(golden.dtype);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Inputs, ASingleElementEqualsTheTensors) {
  for (Layout layout : {Layout::BHSD, Layout::BSHD}) {
    for (DType dtype : {DType::f16, DType::bf16, DType::f32}) {
      Problem p = small();
      p.layout = layout, p.dtype = dtype;
      const auto inputs = make_inputs(p);
      ASSERT_TRUE(inputs);
      int64_t index = 0;
      for (int64_t b = 0; b < p.batch; ++b)
        for (int64_t h = 0; h < p.kv_heads; ++h)
          for (int64_t s = 0; s < p.seq_k; ++s)
            for (int64_t d = 0; d < p.head_dim; ++d, ++index)
              ASSERT_EQ(load_element(dtype, inputs->v.data(), element_offset(p, p.kv_heads, p.seq_k, b, h, s, d)),
                        input_element(p, Tensor::v, index));
    }
  }
}

// All cores make large ones.
TEST(Inputs, ManyThreadsMakeTheSame) {
  for (Layout layout : {Layout::BHSD, Layout::BSHD}) {
    Problem p = small();
    p.layout = layout, p.seq_q = 1009, p.seq_k = 8009, p.head_dim = 33;  // 5 MB, heads not a whole number of blocks
    const auto inputs = make_inputs(p);
    ASSERT_TRUE(inputs);
    std::vector<std::byte> q(inputs->q.size()), k(inputs->k.size());
    fill_input(p, Tensor::q, q);
    fill_input(p, Tensor::k, k);
    EXPECT_EQ(inputs->q, q);
    EXPECT_EQ(inputs->k, k);
  }
}

TEST(Parallel, EveryItemOnceAndMemoryThatRunsOut) {
  for (size_t threads : {1, 3, 9}) {
    std::vector<std::atomic<int>> done(100);
    EXPECT_TRUE(in_parallel(threads, done.size(), [&](size_t thread, size_t item) {
      ASSERT_LT(thread, threads);
      ++done[item];
    }));
    for (const std::atomic<int>& one : done) EXPECT_EQ(one, 1);
    EXPECT_FALSE(in_parallel(threads, done.size(), [&](size_t, size_t item) {
      if (item == 50) throw std::bad_alloc();
    }));
  }
  EXPECT_TRUE(in_parallel(4, 0, [](size_t, size_t) { FAIL(); }));
}

TEST(Inputs, TensorsAndSeedsAreIndependent) {
  Problem p = small();
  p.seq_k = p.seq_q, p.kv_heads = p.heads;
  const auto first = make_inputs(p);
  p.seed += uint64_t{1} << 32;  // the key's second word
  const auto second = make_inputs(p);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->q, first->k);
  EXPECT_NE(first->k, first->v);
  EXPECT_NE(first->q, second->q);
}

TEST(Inputs, AWriteToAnInputIsNamed) {
  auto inputs = std::make_shared<AttentionInputs>(*make_inputs(small()));
  const auto operands = make_operands(inputs, small());
  ASSERT_TRUE(operands);
  const std::vector<std::string> before = hash_read_only(**operands);
  EXPECT_TRUE(check_read_only(**operands, before, hash_read_only(**operands)));
  inputs->k[3] ^= std::byte{1};
  const auto refused = check_read_only(**operands, before, hash_read_only(**operands));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the kernel wrote to its input k");
}

TEST(FloatFormats, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = float_from_f16(half);
    if (std::isnan(value)) {
      EXPECT_EQ(f16_from_float(value) & 0x7fff, 0x7e00);
      continue;
    }
    ASSERT_EQ(f16_from_float(value), half) << bits;
    // Compared with the definition: sign · 2^(e-15) · 1.m, subnormals 2^-14 · 0.m.
    const int exponent = (half >> 10) & 31, mantissa = half & 1023;
    const double magnitude = exponent == 31  ? HUGE_VAL
                             : exponent == 0 ? std::ldexp(mantissa, -24)
                                             : std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(static_cast<double>(value), half & 0x8000 ? -magnitude : magnitude);
  }
}

TEST(FloatFormats, HalfRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {  // between each finite half and the next (the last: infinity)
    const float low = float_from_f16(static_cast<uint16_t>(bits));
    const float high = bits == 0x7bff ? 65536.0f : float_from_f16(static_cast<uint16_t>(bits + 1));
    const float middle = 0.5f * (low + high);  // exact in fp32
    const auto even = static_cast<uint16_t>(bits + (bits & 1));
    ASSERT_EQ(f16_from_float(middle), even) << bits;
    ASSERT_EQ(f16_from_float(-middle), even | 0x8000) << bits;
    ASSERT_EQ(f16_from_float(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(f16_from_float(std::nextafter(middle, 1e9f)), bits + 1);
  }
  EXPECT_EQ(f16_from_float(1e30f), 0x7c00);
}

TEST(FloatFormats, BfloatRoundsToNearestEven) {
  for (uint32_t bits = 1; bits < 0x7f80; ++bits) {
    const uint32_t middle = (bits << 16) | 0x8000u;
    ASSERT_EQ(bf16_from_float(std::bit_cast<float>(middle)), bits + (bits & 1));
    ASSERT_EQ(bf16_from_float(std::bit_cast<float>(middle - 1)), bits);
    ASSERT_EQ(bf16_from_float(std::bit_cast<float>(middle + 1)), bits + 1);
  }
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(std::bit_cast<float>(0x7f800001u)))));
}

TEST(FloatFormats, TheVectorFormAgrees) {
  std::vector<float> values;
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto words = philox_block(9, 9, i);
    for (uint32_t word : words) {
      const float value = std::bit_cast<float>(word);
      if (!std::isnan(value)) values.push_back(value);                             // any magnitude
      values.push_back(std::bit_cast<float>((word & 0x87ffffffu) + 0x34000000u));  // around the halves' range
    }
  }
  std::vector<uint16_t> encoded(values.size());
  for (DType dtype : {DType::f16, DType::bf16}) {
    encode_16(dtype, values.data(), values.size(), encoded.data());
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(encoded[i], dtype == DType::f16 ? f16_from_float(values[i]) : bf16_from_float(values[i])) << values[i];
  }
}

TEST(FloatFormats, TheVectorDecoderIsTheScalarOne) {
  std::vector<uint16_t> every(0x10000);
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<uint16_t>(i);
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    for (DType dtype : {DType::f16, DType::bf16}) {
      std::vector<float> decoded(every.size());
      decode_16(dtype, every.data(), every.size() - 3, decoded.data());  // with a tail
      for (size_t i = 0; i < every.size() - 3; ++i) {
        const float expected = dtype == DType::f16 ? float_from_f16(every[i]) : float_from_bf16(every[i]);
        ASSERT_EQ(std::bit_cast<uint32_t>(decoded[i]), std::bit_cast<uint32_t>(expected))
            << hwy::TargetName(rest & -rest) << " " << to_string(dtype) << " " << i;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace attnscope::check
