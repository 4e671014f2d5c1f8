// Floating-point forms of the general handlers. The host's MXCSR, which Op::mxcsr sets first, determines rounding and
// flushing.
#include <algorithm>

#include "emulator/exec/approximation_tables.h"
#include "emulator/exec/general.h"

namespace attnscope::emulator {

namespace {

uint32_t finish(const Op& op, float r) {
  if (op.detail.floats.saturates) {
    if (!(r > 0.0f)) r = 0.0f;  // NaN too
    if (r > 1.0f) r = 1.0f;
  }
  return bits_of_float(r);
}
float f32(uint32_t x) { return bits_as<float>(x); }
double f64(uint64_t x) { return bits_as<double>(x); }
void set_double(const Lane& l, double r, uint64_t c = 0) {
  l.set64(bits_as<uint64_t>(finish_double(r, l.raw64(l.op.a, 0), l.raw64(l.op.b, 1), c)));
}

}  // namespace

void g_fadd(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(finish(op, f32(l.a()) + f32(l.b()))); });
}
void g_fmul(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(finish(op, f32(l.a()) * f32(l.b()))); });
}
// The product times a power of two, rounded once. A result that reaches the smallest normal number only by rounding is
// flushed too, as in the other families' arithmetic on the host.
void g_fmul_scaled(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    const float a = flushed(op, f32(l.a())), b = flushed(op, f32(l.b()));
    const double exact = static_cast<double>(a) * b * static_cast<double>(op.detail.floats.scale);
    auto r = static_cast<float>(exact);
    if ((op.flags & op_ftz) && std::fabs(static_cast<float>(exact * 0x1p32)) < 0x1p-94f) r = std::copysign(0.0f, r);
    l.set(finish(op, r));
  });
}
void g_ffma(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask,
            [&](const Lane& l) { l.set(finish(op, __builtin_fmaf(f32(l.a()), f32(l.b()), f32(l.c())))); });
}
// NAN: a NaN wins; XORSIGN: the sign is the product of the operands' signs, and |x| removes them from the comparison.
void g_fmnmx(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t least = predicate(warp, op.x, op.x_invert);
  each_lane(warp, op, mask, [&](const Lane& l) {
    const float a = flushed(op, f32(l.a())), b = flushed(op, f32(l.b()));
    const uint32_t sign = (l.raw(op.a, 0) ^ l.raw(op.b, 1)) & 0x80000000u;
    float r;
    if (std::isnan(a) || std::isnan(b)) {
      r = op.detail.floats.nan_wins ? NAN : std::isnan(a) ? b : a;
    } else {
      const bool a_less = a < b || (a == b && std::signbit(a));
      r = a_less == ((least >> l.lane & 1) != 0) ? a : b;
    }
    if (std::isnan(r)) return l.set(kFloatNan);
    uint32_t bits = bits_as<uint32_t>(r);
    if (op.detail.floats.sign_is_product) bits = (bits & 0x7fffffff) | sign;
    l.set(bits);
  });
}
// 1.0 (.BF) or all ones if the comparison holds.
void g_fset(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert);
  each_lane(warp, op, mask, [&](const Lane& l) {
    const float a = flushed(op, f32(l.a())), b = flushed(op, f32(l.b()));
    const bool r = combined(op, compare(op, static_cast<double>(a), static_cast<double>(b)), x >> l.lane & 1);
    l.set(!r ? 0 : op.comparison.gives_one ? 0x3f800000u : kFull);
  });
}
// True if a / b needs the slow path: the divisor or the quotient is near the ends of the range, or an operand is
// special.
void g_fchk(Warp& warp, const Op& op, uint32_t mask) {
  set_p(warp, op, mask, [&](const Lane& l) {
    const int a = static_cast<int>(l.a() >> 23 & 255), b = static_cast<int>(l.b() >> 23 & 255);
    const int difference = a - b;
    return b == 0 || b >= 253 || a == 255 || a <= 23 || difference >= 126 || difference <= -126;
  });
}

void g_dadd(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [](const Lane& l) { set_double(l, f64(l.a64()) + f64(l.b64())); });
}
void g_dmul(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [](const Lane& l) { set_double(l, f64(l.a64()) * f64(l.b64())); });
}
void g_dfma(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    set_double(l, __builtin_fma(f64(l.a64()), f64(l.b64()), f64(l.c64())), l.raw64(op.c, 2));
  });
}
void g_dsetp(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert);
  set_p_and_q(warp, op, mask, [&](const Lane& l) {
    return compared_both_ways(op, compare(op, f64(l.a64()), f64(l.b64())), x >> l.lane & 1);
  });
}
// p: a is the result (a number if b is NaN); q: both are NaN.
void g_dsetp_minmax(Warp& warp, const Op& op, uint32_t mask) {
  set_p_and_q(warp, op, mask, [&](const Lane& l) -> Answers {
    const double a = f64(l.a64()), b = f64(l.b64());
    const bool a_less = a < b || (a == b && std::signbit(a));
    const bool take = std::isnan(a) ? false : std::isnan(b) ? true : a_less != op.detail.takes_greater;
    return {take, std::isnan(a) && std::isnan(b)};
  });
}

namespace {

// Computed in double precision and rounded once, within the documented errors (docs/emulator.md).
double function_of(Mufu function, double x) {
  switch (function) {
    case Mufu::rsq:
      return x == 0 ? std::copysign(INFINITY, x) : 1.0 / std::sqrt(x);
    case Mufu::sqrt:
      return std::sqrt(x);
    case Mufu::lg2:
      return std::log2(x);
    // The argument is in turns, so whole turns have no effect.
    case Mufu::sin:
      return std::isinf(x) ? NAN : std::sin((x - std::rint(x)) * 6.283185307179586476925);
    case Mufu::cos:
      return std::isinf(x) ? NAN : std::cos((x - std::rint(x)) * 6.283185307179586476925);
    case Mufu::tanh:
      return std::tanh(x);
    case Mufu::ex2:
      return std::exp2(x);
    default:
      return 1.0 / x;
  }
}

// MUFU.RSQ, bit for bit (approximation_tables.h). Subnormals are treated as zero.
uint32_t reciprocal_root(uint32_t x) {
  using namespace approximation;
  constexpr uint32_t kInfinity = 0x7f800000u, kSign = 0x80000000u;
  if ((x & kInfinity) == 0) return kInfinity | (x & kSign);
  if ((x & kSign) != 0 || x > kInfinity) return kFloatNan;
  if (x == kInfinity) return 0;
  const int exponent = static_cast<int>(x >> 23) - 127;
  const uint32_t mantissa = x & 0x7fffff, segment = mantissa >> 17, part = mantissa & 0x1ffff;
  const bool odd = (exponent & 1) != 0;
  const int64_t slope = odd ? kRsq2Slopes[segment] : kRsq1Slopes[segment],
                bend = odd ? kRsq2Bends[segment] : kRsq1Bends[segment];
  int64_t bits = (odd ? kRsq2Starts[segment] : kRsq1Starts[segment]) +
                 ((slope * part + (bend >> 16) * square(part) + (bend & 0xffff)) >> 16);
  if (!odd && mantissa == 0) bits = 0x3f800000;
  return static_cast<uint32_t>(bits - int64_t{exponent >> 1} * 0x800000);
}

// 16-bit results are truncated, but overflow is infinite (recorded).
uint16_t half_result(double r, Number type) {
  const double most = type == Number::f16 ? 65536.0 : 0x1p128;
  return narrow(std::fabs(r) >= most ? std::copysign(INFINITY, r) : r, type, Rounding::zero);
}

}  // namespace

void g_mufu(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    if (op.detail.mufu.function == Mufu::rsq) return l.set(reciprocal_root(l.a()));
    float x = f32(l.a());
    if (op.detail.mufu.function != Mufu::tanh) x = flush_subnormal(x);
    float r = static_cast<float>(function_of(op.detail.mufu.function, static_cast<double>(x)));
    if (op.detail.mufu.function != Mufu::tanh) r = flush_subnormal(r);
    l.set(bits_of_float(r));
  });
}
void g_mufu_half(Warp& warp, const Op& op, uint32_t mask) {
  const Number type = op.detail.mufu.type;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const auto half = static_cast<uint16_t>(op.half[0] == HalfPick::upper ? l.a() >> 16 : l.a());
    l.set(half_result(function_of(op.detail.mufu.function, widen(half, type)), type));
  });
}
// The upper word of 1 / x or 1 / sqrt(x), from the upper word of x: the seed that the compiler's sequences refine.
void g_mufu_64h(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    double x = f64(Lane::join(0, l.a()));
    if (std::fpclassify(x) == FP_SUBNORMAL) x = std::copysign(0.0, x);
    const double r = function_of(op.detail.mufu.function, x);
    if (std::isnan(r)) return l.set(kFloatNan);
    if (std::fpclassify(r) == FP_SUBNORMAL) return l.set(std::signbit(r) ? 0x80000000u : 0);
    l.set(static_cast<uint32_t>(bits_as<uint64_t>(r) >> 32));
  });
}

}  // namespace attnscope::emulator
