// Packed 16-bit floating point: HADD2, HMUL2, HFMA2, HMNMX2, HSET2, HSETP2, as f16 or bf16.
#include "emulator/exec/general.h"

namespace attnscope::emulator {

namespace {

struct Halves {
  uint16_t low, high;
};

// The halves of a source: unchanged, or the lower or upper one twice; then |x| and -x are applied to both.
Halves halves(const Lane& l, uint32_t offset, int slot, HalfPick which, uint32_t ands, uint32_t xors) {
  const uint32_t word = l.raw(offset, slot);
  const auto low = static_cast<uint16_t>(which == HalfPick::upper ? word >> 16 : word),
             high = static_cast<uint16_t>(which == HalfPick::lower ? word : word >> 16);
  const auto keep = static_cast<uint16_t>(ands >> 16), turn = static_cast<uint16_t>(xors >> 16);
  return {static_cast<uint16_t>((low & keep) ^ turn), static_cast<uint16_t>((high & keep) ^ turn)};
}
Halves half_a(const Lane& l) { return halves(l, l.op.a, 0, l.op.half[0], l.op.and_a, l.op.xor_a); }
Halves half_b(const Lane& l) { return halves(l, l.op.b, 1, l.op.half[1], l.op.and_b, l.op.xor_b); }
Halves half_c(const Lane& l) { return halves(l, l.op.c, 2, l.op.half[2], l.op.and_c, l.op.xor_c); }

Number type_of(const Op& op) { return op.detail.floats.half; }
uint16_t flushed(uint16_t x, const Op& op) {
  if (!(op.flags & op_ftz)) return x;
  const uint16_t exponent = type_of(op) == Number::f16 ? 0x7c00 : 0x7f80;
  return (x & exponent) == 0 ? x & 0x8000 : x;
}
double value(uint16_t x, const Op& op) { return widen(flushed(x, op), type_of(op)); }

uint16_t finished(double exact, const Op& op) {
  uint16_t r = flushed(narrow(exact, type_of(op), Rounding::nearest), op);
  if (op.detail.floats.saturates) {
    if (std::isnan(exact) || exact <= 0) return 0;
    if (exact > 1) return type_of(op) == Number::f16 ? 0x3c00 : 0x3f80;
  }
  if ((op.flags & op_relu) && (r & 0x8000)) r = 0;
  return r;
}

template <class F>
void both(Warp& warp, const Op& op, uint32_t mask, F f) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    const Halves a = half_a(l), b = half_b(l), c = half_c(l);
    l.set(static_cast<uint32_t>(f(a.high, b.high, c.high)) << 16 | f(a.low, b.low, c.low));
  });
}

}  // namespace

void g_hadd2(Warp& warp, const Op& op, uint32_t mask) {
  both(warp, op, mask,
       [&](uint16_t a, uint16_t b, uint16_t) { return finished(add_to_odd(value(a, op), value(b, op)), op); });
}
void g_hmul2(Warp& warp, const Op& op, uint32_t mask) {
  both(warp, op, mask, [&](uint16_t a, uint16_t b, uint16_t) { return finished(value(a, op) * value(b, op), op); });
}
void g_hfma2(Warp& warp, const Op& op, uint32_t mask) {
  both(warp, op, mask, [&](uint16_t a, uint16_t b, uint16_t c) {
    return finished(add_to_odd(value(a, op) * value(b, op), value(c, op)), op);
  });
}
void g_hmnmx2(Warp& warp, const Op& op, uint32_t mask) {
  const bool least = predicate(warp, op.x, op.x_invert) != 0;  // PT or !PT
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint32_t signs = (l.raw(op.a, 0) ^ l.raw(op.b, 1)) & 0x80008000u;
    const auto one = [&](uint16_t a, uint16_t b, uint16_t sign) -> uint16_t {
      a = flushed(a, op);
      b = flushed(b, op);
      const double x = widen(a, type_of(op)), y = widen(b, type_of(op));
      uint16_t r;
      if (std::isnan(x) || std::isnan(y)) {
        if ((op.detail.floats.nan_wins) || (std::isnan(x) && std::isnan(y))) return 0x7fff;
        r = std::isnan(x) ? b : a;
      } else {
        const bool a_less = x < y || (x == y && (a & 0x8000));
        r = a_less == least ? a : b;
      }
      return op.detail.floats.sign_is_product ? static_cast<uint16_t>((r & 0x7fff) | sign) : r;
    };
    const Halves a = half_a(l), b = half_b(l);
    l.set(static_cast<uint32_t>(one(a.high, b.high, static_cast<uint16_t>(signs >> 16))) << 16 |
          one(a.low, b.low, static_cast<uint16_t>(signs & 0x8000)));
  });
}
// 1.0 (.BF) or all ones in each half if the comparison holds.
void g_hset2(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert);
  const uint16_t yes = !op.comparison.gives_one ? 0xffff : type_of(op) == Number::f16 ? 0x3c00 : 0x3f80;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const Halves a = half_a(l), b = half_b(l);
    const auto one = [&](uint16_t p, uint16_t q) -> uint16_t {
      return combined(op, compare(op, value(p, op), value(q, op)), x >> l.lane & 1) ? yes : 0;
    };
    l.set(static_cast<uint32_t>(one(a.high, b.high)) << 16 | one(a.low, b.low));
  });
}
// p for the lower half, q for the upper.
void g_hsetp2(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert);
  set_p_and_q(warp, op, mask, [&](const Lane& l) -> Answers {
    const Halves a = half_a(l), b = half_b(l);
    const bool with = x >> l.lane & 1;
    return {combined(op, compare(op, value(a.low, op), value(b.low, op)), with),
            combined(op, compare(op, value(a.high, op), value(b.high, op)), with)};
  });
}

}  // namespace attnscope::emulator
