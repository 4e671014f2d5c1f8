#include "emulator/exec/tensor_core.h"

#include <algorithm>
#include <bit>

namespace attnscope::emulator {
namespace {

struct Format {
  int exponent_bits, fraction_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint32_t top_exponent() const { return (1u << exponent_bits) - 1; }
  constexpr int sign_at() const { return exponent_bits + fraction_bits; }
};
constexpr Format kF16{5, 10}, kBf16{8, 7}, kTf32{8, 10}, kF32{8, 23};
constexpr int kTf32Unused = 13;  // low bits of a word that TF32 ignores

constexpr Format operand_format(TensorKind kind) { return kind == TensorKind::bf16_f32 ? kBf16 : kF16; }
constexpr Format sum_format(TensorKind kind) { return kind == TensorKind::f16_f16 ? kF16 : kF32; }

constexpr int kNoExponent = -100000;  // exponent of zero: below every other

// significand · 2^(exponent - fraction bits); a subnormal has the smallest exponent.
struct Number {
  bool negative = false, infinite = false, nan = false;
  uint32_t significand = 0;
  int exponent = kNoExponent;
};

Number unpack(uint32_t bits, Format format) {
  Number number;
  number.negative = bits >> format.sign_at() & 1;
  const uint32_t exponent = bits >> format.fraction_bits & format.top_exponent();
  const uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
  if (exponent == format.top_exponent()) {
    (fraction != 0 ? number.nan : number.infinite) = true;
    return number;
  }
  number.significand = exponent == 0 ? fraction : fraction | 1u << format.fraction_bits;
  if (number.significand != 0) number.exponent = std::max<int>(1, static_cast<int>(exponent)) - format.bias();
  return number;
}

constexpr uint32_t infinity(Format format, bool negative) {
  return static_cast<uint32_t>(negative) << format.sign_at() | format.top_exponent() << format.fraction_bits;
}
// The only NaN that Tensor Cores produce: every bit set but the sign.
constexpr uint32_t canonical_nan(Format format) { return (1u << format.sign_at()) - 1; }

// units · 2^(exponent - fraction_bits) in the sum's format: truncated for fp32, rounded to nearest even for fp16.
uint32_t pack(int64_t units, int exponent, int fraction_bits, Format format) {
  if (units == 0) return 0;
  const bool negative = units < 0;
  const uint64_t magnitude = static_cast<uint64_t>(negative ? -units : units);
  const int top = 63 - std::countl_zero(magnitude) + exponent - fraction_bits;  // exponent of the leading bit
  int last = std::max(top, 1 - format.bias()) - format.fraction_bits;           // exponent of the result's last bit
  const int drop = last - (exponent - fraction_bits);
  uint64_t kept = drop <= 0 ? magnitude << -drop : drop > 63 ? 0 : magnitude >> drop;
  if (format.exponent_bits == kF16.exponent_bits && drop > 0 && drop <= 63) {
    const uint64_t rest = magnitude - (kept << drop), half = uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  if (kept == 0) return 0;  // never -0
  if (kept >> (format.fraction_bits + 1) != 0) {
    kept >>= 1;
    ++last;
  }
  const int biased = kept >> format.fraction_bits != 0 ? last + format.fraction_bits + format.bias() : 0;
  if (biased >= static_cast<int>(format.top_exponent())) return infinity(format, negative);
  return static_cast<uint32_t>(negative) << format.sign_at() | static_cast<uint32_t>(biased) << format.fraction_bits |
         (static_cast<uint32_t>(kept) & ((1u << format.fraction_bits) - 1));
}

// One step: up to 16 products and the sum so far.
template <class T>
uint32_t add_products(int fraction_bits, Format operands, Format format, const T* row, const T* column, int depth,
                      uint32_t c) {
  struct Term {
    int64_t significand;  // negative if the term is
    int exponent;         // of the significand's bit `point`
    int point;
  } terms[17];
  int count = 0, largest = kNoExponent;
  bool nan = false, infinite[2] = {};
  const auto add = [&](bool negative, uint64_t significand, int exponent, int point) {
    if (significand == 0) return;
    terms[count++] = {negative ? -static_cast<int64_t>(significand) : static_cast<int64_t>(significand), exponent,
                      point};
    largest = std::max(largest, exponent);
  };
  for (int k = 0; k < depth; ++k) {
    const Number a = unpack(row[k], operands), b = unpack(column[k], operands);
    const bool negative = a.negative != b.negative;
    if (a.nan || b.nan) {
      nan = true;
    } else if (a.infinite || b.infinite) {
      const Number& other = a.infinite ? b : a;
      if (!other.infinite && other.significand == 0) nan = true;  // Inf · 0
      infinite[negative] = true;
    } else {
      add(negative, uint64_t{a.significand} * b.significand, a.exponent + b.exponent, 2 * operands.fraction_bits);
    }
  }
  const Number sum = unpack(c, format);
  if (sum.nan) nan = true;
  if (sum.infinite) infinite[sum.negative] = true;
  if (!sum.nan && !sum.infinite) add(sum.negative, sum.significand, sum.exponent, format.fraction_bits);
  if (nan || (infinite[0] && infinite[1])) return canonical_nan(format);
  if (infinite[0] || infinite[1]) return infinity(format, infinite[1]);
  int64_t units = 0;  // in units of 2^(largest - fraction_bits)
  for (int i = 0; i < count; ++i) {
    const int up = terms[i].exponent - terms[i].point - (largest - fraction_bits);
    const int64_t magnitude = std::abs(terms[i].significand);
    const int64_t cut = up >= 0 ? magnitude << up : -up > 62 ? 0 : magnitude >> -up;
    units += terms[i].significand < 0 ? -cut : cut;
  }
  return pack(units, largest, fraction_bits, format);
}

}  // namespace

uint32_t multiply_add_one(TensorSum sum, TensorKind kind, const uint16_t (&row)[16], const uint16_t (&column)[16],
                          uint32_t c) {
  for (int first = 0; first < 16; first += sum.depth)
    c = add_products(sum.fraction_bits, operand_format(kind), sum_format(kind), row + first, column + first, sum.depth,
                     c);
  return c;
}

uint32_t multiply_add_tf32(TensorSum sum, std::span<const uint32_t> row, std::span<const uint32_t> column, uint32_t c) {
  uint32_t a[8], b[8];
  for (size_t k = 0; k < row.size(); ++k) a[k] = row[k] >> kTf32Unused, b[k] = column[k] >> kTf32Unused;
  const int total = static_cast<int>(row.size());
  for (int first = 0; first < total; first += sum.depth)
    c = add_products(sum.fraction_bits, kTf32, kF32, a + first, b + first, std::min(sum.depth, total - first), c);
  return c;
}

}  // namespace attnscope::emulator
