#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

// The inputs of the recorded Tensor Core products, one m16n8k16 per number. The recorder (tests/gpu/record_mma.cu) and
// the test that compares the emulator with its recording make them in the same way, so only the outputs' hashes are
// kept.
namespace attnscope::mma {

constexpr int kM = 16, kN = 8, kK = 16;

// The types of the operands and of the sum.
enum class Kind : uint8_t { f16_f32, bf16_f32, f16_f16 };
constexpr Kind kKinds[] = {Kind::f16_f32, Kind::bf16_f32, Kind::f16_f16};
inline const char* name_of(Kind kind) {
  return kind == Kind::f16_f32 ? "f16_f32" : kind == Kind::bf16_f32 ? "bf16_f32" : "f16_f16";
}

struct Product {
  uint16_t a[kM][kK];
  uint16_t b[kK][kN];
  uint32_t c[kM][kN];  // fp32, or fp16 in the lower half
};

class Random {  // SplitMix64
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>((next() >> 33) % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

// 16-bit formats: how many bits the exponent and the fraction have.
struct Format {
  int exponent_bits, fraction_bits;
};
constexpr Format kF16{5, 10}, kBf16{8, 7}, kF32{8, 23};

// A random number with an exponent (unbiased) of low…high, clamped to the format's range.
inline uint32_t with_exponent(Random& random, Format format, int low, int high) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent = low + random.below(high - low + 1) + bias;
  exponent = exponent < 0 ? 0 : exponent > 2 * bias ? 2 * bias : exponent;
  const uint64_t bits = random.next();
  const uint32_t fraction = static_cast<uint32_t>(bits) & ((1u << format.fraction_bits) - 1);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63);
  return sign << (format.exponent_bits + format.fraction_bits) |
         static_cast<uint32_t>(exponent) << format.fraction_bits | fraction;
}

inline uint32_t special(Random& random, Format format) {
  const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
  const uint32_t sign = static_cast<uint32_t>(random.below(2)) << (format.exponent_bits + format.fraction_bits);
  switch (random.below(4)) {
    case 0:
      return sign | infinity;
    case 1:
      return sign | infinity | 1u << (format.fraction_bits - 1);  // NaN
    case 2:
      return sign;  // zero
    default:
      return sign | (infinity - 1);  // the largest finite
  }
}

inline Product product(Kind kind, uint32_t number) {
  Random random((static_cast<uint64_t>(kind) << 32) + number);
  const Format in = kind == Kind::bf16_f32 ? kBf16 : kF16;
  const Format sum = kind == Kind::f16_f16 ? kF16 : kF32;
  Product p{};
  const int way = static_cast<int>(number % 8);
  // Exponents: near each other; over the whole range; far apart; the smallest.
  const int low[] = {-2, -14, -6, -4, -30, -3, -14, -12}, high[] = {1, 15, 6, 3, -12, 3, 15, 14};
  const int sum_low[] = {-2, -30, -20, -10, -149, -3, -40, -30}, sum_high[] = {4, 30, 20, 10, -20, 127, 40, 30};
  for (auto& row : p.a)
    for (auto& x : row) x = static_cast<uint16_t>(with_exponent(random, in, low[way], high[way]));
  for (auto& row : p.b)
    for (auto& x : row) x = static_cast<uint16_t>(with_exponent(random, in, low[way], high[way]));
  for (auto& row : p.c)
    for (auto& x : row) x = with_exponent(random, sum, sum_low[way], sum_high[way]);
  if (way == 3)  // cancellation: every second product is the previous one negated, except for its last bit
    for (int k = 0; k + 1 < kK; k += 2) {
      for (auto& row : p.a)
        row[k + 1] = static_cast<uint16_t>(row[k] ^ 0x8000u ^ static_cast<uint32_t>(random.below(2)));
      for (int n = 0; n < kN; ++n) p.b[k + 1][n] = p.b[k][n];
    }
  if (way == 5) {
    for (auto& row : p.a)
      for (auto& x : row)
        if (random.below(96) == 0) x = static_cast<uint16_t>(special(random, in));
    for (auto& row : p.c)
      for (auto& x : row)
        if (random.below(24) == 0) x = special(random, sum);
  }
  if (way == 6)  // one product and the sum
    for (auto& row : p.a)
      for (int k = 0; k < kK; ++k)
        if (k != static_cast<int>(number / 8 % kK)) row[k] = 0;
  if (way == 7)  // few products, and the sum starts at 0
    for (int m = 0; m < kM; ++m)
      for (int k = 0; k < kK; ++k) {
        if (random.below(4) != 0) p.a[m][k] = 0;
        if (k < kN) p.c[m][k] = 0;
      }
  return p;
}

// 64-bit FNV-1a over the 32-bit words of the 128 outputs, row by row.
inline uint64_t hash_of(const uint32_t (&d)[kM][kN]) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const auto& row : d)
    for (const uint32_t word : row) hash = (hash ^ word) * 0x100000001b3u;
  return hash;
}

// A hash of the hashes of several products.
inline uint64_t hash_of(const uint64_t* hashes, int count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < count; ++i) hash = (hash ^ hashes[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace attnscope::mma
