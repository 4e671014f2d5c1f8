// Floating-point families against the C library's scalar arithmetic in the same rounding mode, with NVIDIA's NaN and
// subnormal rules applied.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>

#include "emulator/exec/approximation_tables.h"
#include "unit/emulator/one_instruction.h"

namespace attnscope::emulator::testing {
namespace {

using u32 = uint32_t;

constexpr u32 kNan = 0x7fffffff;

float to_float(u32 bits) { return std::bit_cast<float>(bits); }
bool is_nan(u32 bits) { return (bits & 0x7fffffff) > 0x7f800000; }
u32 flush(u32 bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }
u32 result(float x) { return std::isnan(x) ? kNan : std::bit_cast<u32>(x); }

// Runs `f` in a rounding mode, with or without flushing of subnormal inputs and outputs.
template <class F>
u32 rounded(bool ftz, int mode, F f, u32 a, u32 b, u32 c) {
  if (ftz) a = flush(a), b = flush(b), c = flush(c);
  std::fesetround(mode);
  volatile float x = to_float(a), y = to_float(b), z = to_float(c);
  const volatile float r = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  const u32 bits = result(r);
  return ftz ? flush(bits) : bits;
}

const auto add = [](float a, float b, float) { return a + b; };
const auto multiply = [](float a, float b, float) { return a * b; };
const auto fma3 = [](float a, float b, float c) { return std::fma(a, b, c); };

// Whether a result counts as subnormal before or after rounding matters only where rounding reaches the least normal
// number. It is not recorded what GPUs do there (docs/emulator.md), so such inputs are left out.
bool settled(const Inputs& in) {
  const double c = to_float(in.c), product = static_cast<double>(to_float(in.a)) * to_float(in.b);
  const auto awkward = [](double x) { return std::fabs(x) < 0x1p-126 && std::fabs(x) > 0x1.fffffcp-127; };
  return !awkward(product) && !awkward(product + c) && !awkward(product - c);
}

TEST(Float, AddMultiplyFma) {
  auto inputs = float_inputs();
  std::erase_if(inputs, [](const Inputs& in) { return !settled(in); });
  for (bool ftz : {false, true}) {
    const std::string f = ftz ? ".FTZ" : "";
    const auto near = [ftz](auto g, u32 a, u32 b, u32 c) { return rounded(ftz, FE_TONEAREST, g, a, b, c); };
    check_value("FADD" + f + " R12, R8, R9", inputs, [&](const Inputs& in) { return near(add, in.a, in.b, 0); });
    check_value("FADD" + f + " R12, -R8, |R9|", inputs,
                [&](const Inputs& in) { return near(add, in.a ^ 0x80000000, in.b & 0x7fffffff, 0); });
    check_value("FADD" + f + " R12, R8, -RZ", inputs, [&](const Inputs& in) { return near(add, in.a, 0x80000000, 0); });
    check_value("FMUL" + f + " R12, R8, R9", inputs, [&](const Inputs& in) { return near(multiply, in.a, in.b, 0); });
    check_value("FMUL" + f + " R12, R8, 0.5 # 0x3f000000", inputs,
                [&](const Inputs& in) { return near(multiply, in.a, 0x3f000000, 0); });
    check_value("FMUL" + f + " R12, R8, c[0x0][0x170]", inputs,
                [&](const Inputs& in) { return near(multiply, in.a, kScalar, 0); });
    check_value("FMUL" + f + " R12, R8, UR4", inputs,
                [&](const Inputs& in) { return near(multiply, in.a, kScalar, 0); });
    check_value("FFMA" + f + " R12, R8, R9, R10", inputs,
                [&](const Inputs& in) { return near(fma3, in.a, in.b, in.c); });
    check_value("FFMA" + f + " R12, R8, R9, -R10", inputs,
                [&](const Inputs& in) { return near(fma3, in.a, in.b, in.c ^ 0x80000000); });
    check_value("FFMA" + f + " R12, R8, R9, -1 # 0xbf800000", inputs,
                [&](const Inputs& in) { return near(fma3, in.a, in.b, 0xbf800000); });
    check_value("FFMA" + f + " R12, R8, 1.84467440737095516160e+19, R10 # 0x5f800000", inputs,
                [&](const Inputs& in) { return near(fma3, in.a, 0x5f800000, in.c); });
  }
  check_value("FFMA.RM R12, R8, R9, R10", inputs,
              [](const Inputs& in) { return rounded(false, FE_DOWNWARD, fma3, in.a, in.b, in.c); });
  check_value("FFMA.RP R12, R8, R9, R10", inputs,
              [](const Inputs& in) { return rounded(false, FE_UPWARD, fma3, in.a, in.b, in.c); });
}

TEST(Float, RoundingModeDoesNotStick) {
  check_value(
      "FFMA.RP R12, R8, R9, R10\nFFMA R12, R8, R9, R10", {{0x3f800001, 0x3f800001, 0, 0}},
      [](const Inputs& in) { return rounded(false, FE_TONEAREST, fma3, in.a, in.b, in.c); }, false);
}

// PTX min, max: a NaN gives the other operand, and -0 < +0.
u32 extreme(bool minimum, bool ftz, u32 a, u32 b) {
  if (ftz) a = flush(a), b = flush(b);
  if (is_nan(a) && is_nan(b)) return kNan;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  const float x = to_float(a), y = to_float(b);
  const bool a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return a_less == minimum ? a : b;
}

TEST(Float, MinimumAndMaximum) {
  const auto inputs = float_inputs();
  check_value("FMNMX R12, R8, R9, PT", inputs, [](const Inputs& in) { return extreme(true, false, in.a, in.b); });
  check_value("FMNMX R12, R8, R9, !PT", inputs, [](const Inputs& in) { return extreme(false, false, in.a, in.b); });
  check_value("FMNMX.FTZ R12, R8, R9, !PT", inputs, [](const Inputs& in) { return extreme(false, true, in.a, in.b); });
  check_value("FMNMX R12, R8, -INF , !PT # 0xff800000", inputs,
              [](const Inputs& in) { return extreme(false, false, in.a, 0xff800000); });
  check_value("FMNMX R12, R8, R9, P0", inputs, [](const Inputs& in) { return extreme(in.p0(), false, in.a, in.b); });
}

TEST(Float, Compares) {
  const auto inputs = float_inputs();
  struct Compare {
    const char* name;
    bool less, equal, greater, unordered;
  };
  for (const Compare& c :
       {Compare{"LT", 1, 0, 0, 0}, Compare{"EQ", 0, 1, 0, 0}, Compare{"LE", 1, 1, 0, 0}, Compare{"GT", 0, 0, 1, 0},
        Compare{"NE", 1, 0, 1, 0}, Compare{"GE", 0, 1, 1, 0}, Compare{"NUM", 1, 1, 1, 0}, Compare{"NAN", 0, 0, 0, 1},
        Compare{"LTU", 1, 0, 0, 1}, Compare{"EQU", 0, 1, 0, 1}, Compare{"LEU", 1, 1, 0, 1}, Compare{"GTU", 0, 0, 1, 1},
        Compare{"NEU", 1, 0, 1, 1}, Compare{"GEU", 0, 1, 1, 1}}) {
    const auto holds = [c](bool ftz, u32 a, u32 b) {
      if (ftz) a = flush(a), b = flush(b);
      if (is_nan(a) || is_nan(b)) return c.unordered;
      const float x = to_float(a), y = to_float(b);
      return x < y ? c.less : x == y ? c.equal : c.greater;
    };
    const std::string name = c.name;
    check("FSETP." + name + ".AND P3, P4, R8, R9, P0", inputs, [&](const Inputs& in) {
      const bool r = holds(false, in.a, in.b);
      return Outputs{.p = r && in.p0(), .q = !r && in.p0()};
    });
    check("FSETP." + name + ".FTZ.AND P3, PT, R8, R9, PT", inputs,
          [&](const Inputs& in) { return Outputs{.p = holds(true, in.a, in.b)}; });
    check("FSETP." + name + ".OR P3, PT, R8, -126, P1 # 0xc2fc0000", inputs,
          [&](const Inputs& in) { return Outputs{.p = holds(false, in.a, 0xc2fc0000) || in.p1()}; });
  }
}

TEST(Float, Selects) {
  const auto inputs = float_inputs();
  check_value("FSEL R12, R8, R9, P0", inputs, [](const Inputs& in) { return in.p0() ? in.a : in.b; });
  check_value("FSEL R12, R8, -INF , !P0 # 0xff800000", inputs,
              [](const Inputs& in) { return in.p0() ? 0xff800000 : in.a; });
}

// IEEE binary16, written from its definition.
double half_value(u32 bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}
u32 half_to_float(u32 half) {
  if ((half & 0x7c00) == 0x7c00) return half & 0x3ff ? kNan : (half & 0x8000) << 16 | 0x7f800000;
  return std::bit_cast<u32>(static_cast<float>(half_value(half)));
}
// Rounds to nearest even by trying the neighbours.
u32 float_to_half(u32 bits) {
  if (is_nan(bits)) return 0x7fff;
  const u32 sign = bits >> 16 & 0x8000;
  const double x = std::fabs(static_cast<double>(to_float(bits)));
  if (x >= 65520) return sign | 0x7c00;
  u32 below = 0;
  for (u32 step = 0x4000; step != 0; step /= 2) {
    if (below + step < 0x7c00 && half_value(below + step) <= x) below += step;
  }
  const double low = half_value(below), high = below + 1 == 0x7c00 ? 65536 : half_value(below + 1);
  const bool up = x - low > high - x || (x - low == high - x && (below & 1));
  return sign | (below + up);
}

TEST(Float, HalvesToFloat) {
  std::vector<Inputs> inputs;
  for (u32 half = 0; half < 65536; ++half) inputs.push_back({0, half << 16 | (half ^ 0x5555), 0, 0});
  check_value("HADD2.F32 R12, -RZ, R9.H1_H1", inputs, [](const Inputs& in) { return half_to_float(in.b >> 16); });
  check_value("HADD2.F32 R12, -RZ, R9.H0_H0", inputs, [](const Inputs& in) { return half_to_float(in.b & 0xffff); });
  check_value("HADD2.F32 R12, -RZ, -R9.H1_H1", inputs,
              [](const Inputs& in) { return half_to_float(in.b >> 16 ^ 0x8000); });
  check_value("HADD2.F32 R12, -RZ, |R9|.H0_H0", inputs, [](const Inputs& in) { return half_to_float(in.b & 0x7fff); });
}

TEST(Float, FloatToHalves) {
  std::vector<Inputs> inputs = float_inputs();
  for (u32 half = 0; half < 0x7c00; half += 7) {  // on, and next to, the midpoint between two halves
    const double middle = (half_value(half) + (half + 1 == 0x7c00 ? 65536 : half_value(half + 1))) / 2;
    const u32 bits = std::bit_cast<u32>(static_cast<float>(middle));
    for (u32 near : {bits - 1, bits, bits + 1}) inputs.push_back({near, near ^ 0x80000000, 0, 0});
  }
  const auto packed = [](const Inputs& in) { return float_to_half(in.a) << 16 | float_to_half(in.b); };
  check_value("F2FP.F16.F32.PACK_AB R12, R8, R9", inputs, packed);
  check_value("F2FP.PACK_AB R12, R8, R9", inputs, packed);
  check_value("F2FP.F16.F32.PACK_AB R12, RZ, R9", inputs, [](const Inputs& in) { return float_to_half(in.b); });
}

TEST(Float, OneHalfBelowTheOther) {
  const std::vector<Inputs> inputs = float_inputs();
  const auto merged = [](const Inputs& in) { return (in.b & 0xffff0000) | float_to_half(in.a); };
  check_value("F2FP.F16.F32.MERGE_C R12, R8, R9", inputs, merged);
  check_value("F2FP.MERGE_C R12, R8, R9", inputs, merged);
  check_value("F2FP.F16.F32.MERGE_C R12, R8, RZ", inputs, [](const Inputs& in) { return float_to_half(in.a); });
  for (const char* source : {"c[0x0][0x170]", "UR4"})
    check_value(std::string("F2FP.F16.F32.MERGE_C R12, ") + source + ", R9", inputs,
                [](const Inputs& in) { return (in.b & 0xffff0000) | float_to_half(kScalar); });
}

// The tables' value, in 64 bits.
int64_t interpolated(const int32_t* starts, const int32_t* slopes, const int32_t* bends, u32 segment, int64_t x,
                     int64_t square) {
  return starts[segment] +
         ((slopes[segment] * x + int64_t{bends[segment] >> 16} * square + (bends[segment] & 0xffff)) >> 15);
}
u32 normal_or_zero(int64_t bits) { return bits < 0x00800000 ? 0 : static_cast<u32>(bits); }

TEST(Float, ExponentialAndReciprocal) {
  using namespace approximation;
  std::vector<Inputs> inputs = float_inputs();
  for (int i = -1300; i < 1300; ++i)
    inputs.push_back({std::bit_cast<u32>(static_cast<float>(i) * 0.1f + 0.01f), 0, 0, 0});
  for (u32 bits : {0xbf800000u, 0xc0600000u, 0xc2fc0000u, 0xc2fc0001u, 0x42ffffffu, 0x43000000u, 0xb3b91234u,
                   0x7e800000u, 0x7e800001u, 0xff000000u})
    inputs.push_back({bits, 0, 0, 0});
  check_value("MUFU.EX2 R12, R8", inputs, [](const Inputs& in) -> u32 {
    if (is_nan(in.a)) return kNan;
    const double x = static_cast<double>(to_float(in.a));
    if (x >= 128) return 0x7f800000u;
    if (x < -200) return 0;
    const auto fixed = static_cast<int64_t>(std::trunc(std::fabs(x) * 0x1p23));
    int64_t fraction = fixed & 0x7fffff, whole = fixed >> 23;
    if (x < 0) whole = fraction == 0 ? -whole : -whole - 1, fraction = fraction == 0 ? 0 : 0x7fffff - fraction;
    const int64_t part = fraction & 0x1ffff;
    const int64_t bits =
        interpolated(kEx2Starts, kEx2Slopes, kEx2Bends, static_cast<u32>(fraction >> 17), part, square(part));
    return normal_or_zero(bits + (whole - 1) * 0x800000);
  });
  check_value("MUFU.RCP R12, R8", inputs, [](const Inputs& in) -> u32 {
    const u32 a = flush(in.a), sign = a & 0x80000000u, magnitude = a & 0x7fffffffu;
    if (is_nan(a)) return kNan;
    if (magnitude == 0 || magnitude == 0x7f800000u) return sign | (magnitude == 0 ? 0x7f800000u : 0);
    const int64_t part = magnitude & 0xffff;
    const int64_t bits =
        interpolated(kRcpStarts, kRcpSlopes, kRcpBends, magnitude >> 16 & 0x7f, part, square(2 * part));
    return sign | normal_or_zero(bits + (127 - int64_t{magnitude >> 23}) * 0x800000);
  });
  EXPECT_EQ(kRcpStarts[0] + (((kRcpBends[0] & 0xffff)) >> 15), 0x3f800000) << "1 / 1 is 1";
}

}  // namespace
}  // namespace attnscope::emulator::testing
