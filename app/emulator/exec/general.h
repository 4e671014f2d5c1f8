#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "emulator/exec/warp.h"

// Handlers of the less common forms: the same for all hosts, one lane at a time, reading the modifiers from the Op. A
// form in which kernels spend their time gets its own family (lanes/).
namespace attnscope::emulator {

// One lane of an instruction's operands.
struct Lane {
  uint8_t* file;
  const Op& op;
  uint32_t lane;

  uint32_t raw(uint32_t offset, int slot, uint32_t k = 0) const {
    const uint32_t at = op.one >> slot & 1 ? offset + 4 * k : offset + 128 * k + 4 * lane;
    uint32_t value;
    std::memcpy(&value, file + at, 4);
    return value;
  }
  uint32_t a() const { return ((raw(op.a, 0) & op.and_a) ^ op.xor_a) + op.sign_a; }
  uint32_t b() const { return ((raw(op.b, 1) & op.and_b) ^ op.xor_b) + op.sign_b; }
  uint32_t c() const { return ((raw(op.c, 2) & op.and_c) ^ op.xor_c) + op.sign_c; }
  // A 64-bit value; a float's modifiers affect the upper word.
  static uint64_t join(uint32_t low, uint32_t high) { return low | static_cast<uint64_t>(high) << 32; }
  uint64_t a64() const { return join(raw(op.a, 0), (raw(op.a, 0, 1) & op.and_a) ^ op.xor_a); }
  uint64_t b64() const { return join(raw(op.b, 1), (raw(op.b, 1, 1) & op.and_b) ^ op.xor_b); }
  uint64_t c64() const { return join(raw(op.c, 2), (raw(op.c, 2, 1) & op.and_c) ^ op.xor_c); }

  uint64_t raw64(uint32_t offset, int slot) const { return join(raw(offset, slot), raw(offset, slot, 1)); }

  void set(uint32_t value, uint32_t k = 0) const { std::memcpy(file + op.dst + 128 * k + 4 * lane, &value, 4); }
  void set64(uint64_t value) const {
    set(static_cast<uint32_t>(value));
    set(static_cast<uint32_t>(value >> 32), 1);
  }
};

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class F>
void each_lane(Warp& warp, const Op& op, uint32_t mask, F f) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    f(Lane{bytes_of(warp), op, first_lane(rest)});
  }
}

inline uint32_t predicate(const Warp& warp, uint8_t slot, uint8_t invert) {
  return warp.pred[slot] ^ (invert ? kFull : 0);
}
inline void set_predicate(Warp& warp, uint8_t slot, uint32_t value, uint32_t mask) {
  warp.pred[slot] = (warp.pred[slot] & ~mask) | (value & mask);
}
inline bool combined(const Op& op, bool compared, bool with) {
  const Logic logic = op.comparison.logic;
  return logic == Logic::and_ ? compared && with : logic == Logic::or_ ? compared || with : compared != with;
}

// A lane's results for predicates p and q.
struct Answers {
  bool p, q;
};
// Sets predicates p and q to f(lane) for the lanes of `mask`.
template <class F>
void set_p_and_q(Warp& warp, const Op& op, uint32_t mask, F f) {
  uint32_t p = 0, q = 0;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const Answers answers = f(l);
    p |= uint32_t{answers.p} << l.lane;
    q |= uint32_t{answers.q} << l.lane;
  });
  set_predicate(warp, op.p, p, mask);
  set_predicate(warp, op.q, q, mask);
}
// The same, only for predicate p.
template <class F>
void set_p(Warp& warp, const Op& op, uint32_t mask, F f) {
  uint32_t p = 0;
  each_lane(warp, op, mask, [&](const Lane& l) { p |= uint32_t{f(l)} << l.lane; });
  set_predicate(warp, op.p, p, mask);
}
// A comparison and its opposite, each combined with `with`.
inline Answers compared_both_ways(const Op& op, bool compared, bool with) {
  return {combined(op, compared, with), combined(op, !compared, with)};
}

constexpr uint32_t kFloatNan = 0x7fffffffu;
inline uint32_t bits_of_float(float r) { return std::isnan(r) ? kFloatNan : bits_as<uint32_t>(r); }
inline float flush_subnormal(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
inline float flushed(const Op& op, float x) { return op.flags & op_ftz ? flush_subnormal(x) : x; }

// The NaN of a double result is operand b if that is a NaN, otherwise c, otherwise a, made quiet and without modifiers;
// a NaN that the operation itself made is negative (all recorded).
inline double finish_double(double r, uint64_t a, uint64_t b, uint64_t c = 0) {
  if (r == r) return r;
  constexpr uint64_t infinity = 0x7ff0000000000000ull, quiet = 0x0008000000000000ull;
  for (const uint64_t x : {b, c, a}) {
    if ((x & ~(uint64_t{1} << 63)) > infinity) return bits_as<double>(x | quiet);
  }
  return bits_as<double>(0xfff8000000000000ull);
}

// A number of 16 bits (f16, bf16) as a double, which is exact, and back with one rounding. Every NaN becomes the
// canonical one.
double widen(uint16_t bits, Number type);
uint16_t narrow(double x, Number type, Rounding rounding);
// x + y rounded to odd, so that rounding it to 16 bits gives the same as rounding the exact sum.
double add_to_odd(double x, double y);
inline bool compare(const Op& op, double a, double b) {
  return op.comparison.select[a < b ? 0 : a == b ? 1 : a > b ? 2 : 3] != 0;
}

// The handlers that rows of the list name.
#define FORM(...)
#define GENERAL(spelling, handler, ...) void handler(Warp& warp, const Op& op, uint32_t mask);
#define DEFINED GENERAL
#include "emulator/isa/forms.inc"
#undef DEFINED
#undef GENERAL
#undef FORM
// The handler that the instruction's row names.
Handler general_handler(const Op& op);

}  // namespace attnscope::emulator
