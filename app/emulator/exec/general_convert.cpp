// Conversions between numbers.
#include <algorithm>

#include "emulator/exec/general.h"

namespace attnscope::emulator {

namespace {

// Mantissa bits and exponent bias of the 16-bit formats.
struct Format {
  int mantissa, bias;
  uint16_t infinity;
};
Format format_of(Number type) { return type == Number::f16 ? Format{10, 15, 0x7c00} : Format{7, 127, 0x7f80}; }

bool rounds_up(uint64_t quotient, uint64_t rest, uint64_t half, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return rest > half || (rest == half && (quotient & 1));
    case Rounding::down:
      return negative && rest != 0;
    case Rounding::up:
      return !negative && rest != 0;
    case Rounding::zero:
      break;
  }
  return false;
}

double rounded(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return std::fabs(x) >= 0x1p52 ? x : (std::copysign(0x1p52, x) + x) - std::copysign(0x1p52, x);
    case Rounding::down:
      return std::floor(x);
    case Rounding::up:
      return std::ceil(x);
    case Rounding::zero:
      return std::trunc(x);
  }
  return x;
}

// The exact value of a floating-point source; FTZ flushes a float's subnormals.
double source_of(const Lane& l, const Op& op) {
  switch (op.detail.conversion.from) {
    case Number::f64:
      return bits_as<double>(l.a64());
    case Number::f32: {
      const auto x = bits_as<float>(l.a());
      return static_cast<double>(flushed(op, x));
    }
    default: {
      const uint32_t a = l.raw(op.a, 0);
      auto half = static_cast<uint16_t>(op.half[0] == HalfPick::upper ? a >> 16 : a);
      half = static_cast<uint16_t>((half & (op.and_a >> 16 | 0x7fff)) ^ (op.xor_a >> 16));
      return widen(half, op.detail.conversion.from);
    }
  }
}

}  // namespace

double widen(uint16_t bits, Number type) {
  if (type == Number::bf16) return static_cast<double>(bits_as<float>(static_cast<uint32_t>(bits) << 16));
  const uint32_t magnitude = bits & 0x7fff;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (magnitude >= 0x7c00) return magnitude == 0x7c00 ? sign * INFINITY : NAN;
  if (magnitude < 0x400) return sign * (magnitude * 0x1p-24);
  return bits_as<double>(static_cast<uint64_t>(bits & 0x8000) << 48 |
                         (static_cast<uint64_t>(magnitude) + ((1023 - 15) << 10)) << 42);
}

uint16_t narrow(double x, Number type, Rounding rounding) {
  const Format format = format_of(type);
  const auto bits = bits_as<uint64_t>(x);
  const bool negative = bits >> 63;
  const auto sign = static_cast<uint16_t>(negative ? 0x8000 : 0);
  const int exponent = static_cast<int>(bits >> 52 & 2047);
  if (exponent == 2047) return bits << 12 != 0 ? 0x7fff : static_cast<uint16_t>(sign | format.infinity);
  if (bits << 1 == 0) return sign;
  const uint64_t significand = (bits & ((uint64_t{1} << 52) - 1)) | (exponent != 0 ? uint64_t{1} << 52 : 0);
  const int target = std::max(exponent, 1) - 1023 + format.bias;
  const int shift = std::min(52 - format.mantissa + (target <= 0 ? 1 - target : 0), 60);
  uint64_t quotient = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  quotient += rounds_up(quotient, rest, uint64_t{1} << (shift - 1), negative, rounding);
  const uint64_t code = target <= 0 ? quotient : quotient + (static_cast<uint64_t>(target - 1) << format.mantissa);
  if (code < format.infinity) return static_cast<uint16_t>(sign | code);
  const bool infinite = rounding == Rounding::nearest || (rounding == Rounding::up && !negative) ||
                        (rounding == Rounding::down && negative);
  return static_cast<uint16_t>(sign | (infinite ? format.infinity : format.infinity - 1));
}

double add_to_odd(double x, double y) {
  const double sum = x + y;
  if (!std::isfinite(sum)) return sum;
  const double back = sum - x, error = (x - (sum - back)) + (y - back);
  auto bits = bits_as<uint64_t>(sum);
  if (error == 0 || (bits & 1)) return sum;
  bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return bits_as<double>(bits);
}

namespace {

// A NaN converted from or to a double keeps its sign and the upper bits of its payload, made quiet.
void convert_nan(const Lane& l, const Op& op) {
  uint64_t wide;
  if (op.detail.conversion.from == Number::f64) {
    wide = l.a64();
  } else if (op.detail.conversion.from == Number::f32) {
    const uint32_t a = l.a();
    wide = static_cast<uint64_t>(a & 0x80000000u) << 32 | uint64_t{0x7ff} << 52 |
           static_cast<uint64_t>(a & 0x7fffff) << 29;
  } else {
    const uint32_t a = op.half[0] == HalfPick::upper ? l.raw(op.a, 0) >> 16 : l.raw(op.a, 0);
    wide = static_cast<uint64_t>(a & 0x8000) << 48 | uint64_t{0x7ff} << 52 | static_cast<uint64_t>(a & 0x3ff) << 42;
  }
  const uint64_t payload = (wide & ((uint64_t{1} << 52) - 1)) | uint64_t{1} << 51;
  switch (op.detail.conversion.to) {
    case Number::f64:
      return l.set64((wide & ~((uint64_t{1} << 52) - 1)) | payload);
    case Number::f32:
      return l.set(static_cast<uint32_t>(wide >> 32 & 0x80000000u) | 0x7f800000u |
                   static_cast<uint32_t>(payload >> 29));
    default:
      return l.set(static_cast<uint32_t>(wide >> 48 & 0x8000) | 0x7c00u | static_cast<uint32_t>(payload >> 42));
  }
}

}  // namespace

void g_f2f(Warp& warp, const Op& op, uint32_t mask) {
  const auto rounding = op.detail.conversion.rounding;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const double x = source_of(l, op);
    if (std::isnan(x) && (op.detail.conversion.to == Number::f64 || op.detail.conversion.from == Number::f64)) {
      return convert_nan(l, op);
    }
    switch (op.detail.conversion.to) {
      case Number::f64:
        return l.set64(bits_as<uint64_t>(x));
      case Number::f32: {
        const auto r = static_cast<float>(x);  // uses the host's rounding mode
        return l.set(bits_of_float(flushed(op, r)));
      }
      default:
        return l.set(narrow(x, op.detail.conversion.to, rounding));
    }
  });
}

void g_frnd(Warp& warp, const Op& op, uint32_t mask) {
  const auto rounding = op.detail.conversion.rounding;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const double x = source_of(l, op), r = std::isfinite(x) ? std::copysign(rounded(x, rounding), x) : x;
    switch (op.detail.conversion.from) {
      case Number::f64:
        return l.set64(bits_as<uint64_t>(finish_double(r, l.raw64(op.a, 0), 0)));
      case Number::f32:
        return l.set(bits_of_float(static_cast<float>(r)));
      default:
        return l.set(narrow(r, op.detail.conversion.from, Rounding::nearest));
    }
  });
}

// To integers: rounded, then clamped to the type's range.
void g_f2i(Warp& warp, const Op& op, uint32_t mask) {
  const auto to = op.detail.conversion.to;
  const auto rounding = op.detail.conversion.rounding;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const double x = source_of(l, op);
    if (std::isnan(x)) {
      if (is_wide(to)) return l.set64(0x8000000000000000ull);
      return l.set(op.detail.conversion.from == Number::f64 && to == Number::s32 ? 0x80000000u
                   : op.detail.conversion.from == Number::f64                    ? 0x80000000u
                                                                                 : 0);
    }
    const double r = rounded(x, rounding);
    switch (to) {
      case Number::u64:
        return l.set64(r <= 0 ? 0 : r >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(r));
      case Number::s64:
        return l.set64(r < -0x1p63   ? uint64_t{1} << 63
                       : r >= 0x1p63 ? ~(uint64_t{1} << 63)
                                     : static_cast<uint64_t>(static_cast<int64_t>(r)));
      case Number::u32:
        return l.set(static_cast<uint32_t>(std::clamp(r, 0.0, 4294967295.0)));
      case Number::s32:
        return l.set(static_cast<uint32_t>(static_cast<int32_t>(std::clamp(r, -2147483648.0, 2147483647.0))));
      case Number::u16:
        return l.set(static_cast<uint32_t>(std::clamp(r, 0.0, 65535.0)));
      case Number::s16:
        return l.set(static_cast<uint32_t>(static_cast<int32_t>(std::clamp(r, -32768.0, 32767.0))));
      case Number::u8:
        return l.set(static_cast<uint32_t>(std::clamp(r, 0.0, 255.0)));
      default:
        return l.set(static_cast<uint32_t>(static_cast<int32_t>(std::clamp(r, -128.0, 127.0))));
    }
  });
}

namespace {

// A 64-bit integer and its sign, prepared for 16 bits with one rounding: the low bits of a large one are merged into a
// sticky bit.
double exact_enough(uint64_t magnitude, bool negative) {
  const int above = magnitude == 0 ? 0 : std::max(0, 64 - __builtin_clzll(magnitude) - 53);
  uint64_t kept = magnitude >> above << above;
  if (kept != magnitude) kept |= uint64_t{1} << above;
  const auto x = static_cast<double>(kept);
  return negative ? -x : x;
}

}  // namespace

// From integers, with the host's rounding mode to 32 and 64 bits.
void g_i2f(Warp& warp, const Op& op, uint32_t mask) {
  const auto to = op.detail.conversion.to, from = op.detail.conversion.from;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint32_t a = op.half[0] == HalfPick::upper ? l.a() >> 16 : l.a();
    int64_t value = 0;
    bool is_unsigned64 = false;
    switch (from) {
      case Number::u8:
        value = static_cast<uint8_t>(a >> (8 * op.detail.conversion.byte));
        break;
      case Number::s8:
        value = static_cast<int8_t>(a >> (8 * op.detail.conversion.byte));
        break;
      case Number::u16:
        value = static_cast<uint16_t>(a);
        break;
      case Number::s16:
        value = static_cast<int16_t>(a);
        break;
      case Number::u32:
        value = a;
        break;
      case Number::s32:
        value = static_cast<int32_t>(a);
        break;
      case Number::u64:
        value = static_cast<int64_t>(l.a64());
        is_unsigned64 = true;
        break;
      default:
        value = static_cast<int64_t>(l.a64());
        break;
    }
    if (to == Number::f64) {
      const double r = is_unsigned64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
      return l.set64(bits_as<uint64_t>(value == 0 ? 0.0 : r));
    }
    if (to == Number::f32) {
      const float r = is_unsigned64 ? static_cast<float>(static_cast<uint64_t>(value)) : static_cast<float>(value);
      return l.set(bits_as<uint32_t>(value == 0 ? 0.0f : r));
    }
    const bool negative = !is_unsigned64 && value < 0;
    const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    l.set(narrow(exact_enough(magnitude, negative), to, op.detail.conversion.rounding));
  });
}

// Packs two floats, a above b; MERGE_C: one float, in the lower half. RELU: at least +0, and NaN stays.
void g_f2fp(Warp& warp, const Op& op, uint32_t mask) {
  const auto type = op.detail.conversion.to;
  const auto one = [&](uint32_t bits) {
    const double x = static_cast<double>(bits_as<float>(bits));
    if ((op.flags & op_relu) && !std::isnan(x) && !(x > 0)) return uint16_t{0};
    return narrow(x, type, op.detail.conversion.rounding);
  };
  each_lane(warp, op, mask, [&](const Lane& l) {
    if (op.detail.conversion.merges) return l.set((l.b() & 0xffff0000u) | one(l.a()));
    l.set(static_cast<uint32_t>(one(l.a())) << 16 | one(l.b()));
  });
}

}  // namespace attnscope::emulator
