// Integer, bit and predicate forms of the general handlers.
#include <algorithm>
#include <bit>

#include "emulator/exec/general.h"

namespace attnscope::emulator {

namespace {

int64_t signed_of(uint32_t x) { return static_cast<int32_t>(x); }
// Bytes and 16-bit parts as integers of a type.
int64_t part(uint32_t word, int index, Number type) {
  switch (type) {
    case Number::u8:
      return word >> (8 * index) & 0xff;
    case Number::s8:
      return static_cast<int8_t>(word >> (8 * index));
    case Number::u16:
      return word >> (16 * index) & 0xffff;
    case Number::s16:
      return static_cast<int16_t>(word >> (16 * index));
    default:
      return 0;
  }
}

int64_t saturate(int64_t x, Number type) {
  switch (type) {
    case Number::u8:
      return std::clamp<int64_t>(x, 0, 255);
    case Number::s8:
      return std::clamp<int64_t>(x, -128, 127);
    case Number::u16:
      return std::clamp<int64_t>(x, 0, 65535);
    case Number::s16:
      return std::clamp<int64_t>(x, -32768, 32767);
    case Number::u32:
      return std::clamp<int64_t>(x, 0, 0xffffffff);
    case Number::s32:
      return std::clamp<int64_t>(x, INT32_MIN, INT32_MAX);
    default:
      return x;
  }
}

template <class F>
uint32_t by_halves(uint32_t a, uint32_t b, uint32_t c, F f) {
  uint32_t r = 0;
  for (int k = 0; k < 2; ++k)
    r |= (static_cast<uint32_t>(f(a >> (16 * k) & 0xffff, b >> (16 * k) & 0xffff, c >> (16 * k) & 0xffff)) & 0xffff)
         << (16 * k);
  return r;
}

// Sets both halves of every lane to f(a, b, c, the halves' type, whether predicate x selects the minimum). A form with
// two operands ignores c.
template <class F>
void each_half(Warp& warp, const Op& op, uint32_t mask, F f) {
  const uint32_t x = predicate(warp, op.x, op.x_invert);
  each_lane(warp, op, mask, [&](const Lane& l) {
    l.set(by_halves(l.a(), l.b(), l.c(), [&](uint32_t a, uint32_t b, uint32_t c) {
      return f(a, b, c, op.detail.parts.a, x >> l.lane & 1);
    }));
  });
}

// The minimum (predicate x true) or maximum of two halves as the form's type, then RELU.
int64_t half_min_max(const Op& op, int64_t a, int64_t b, bool least) {
  int64_t r = least ? std::min(a, b) : std::max(a, b);
  if (op.flags & op_relu) r = std::max<int64_t>(r, 0);
  return r;
}

}  // namespace

void g_popc(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [](const Lane& l) { l.set(static_cast<uint32_t>(std::popcount(l.a()))); });
}
void g_brev(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [](const Lane& l) {
    uint32_t x = l.a(), r = 0;
    for (int i = 0; i < 32; ++i) r = r << 1 | (x >> i & 1);
    l.set(r);
  });
}
// The position of the highest bit that differs from the sign; .SH: the shift that moves it to the top. All ones if
// none.
void g_flo(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    uint32_t x = l.a();
    if (!(op.flags & op_unsigned) && static_cast<int32_t>(x) < 0) x = ~x;
    const int zeros = std::countl_zero(x);
    l.set(x == 0 ? kFull : static_cast<uint32_t>(op.detail.as_shift ? zeros : 31 - zeros));
  });
}
// b ones from bit a on. Amounts above 32 count as 32; .W: modulo 32.
void g_bmsk(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint64_t from = op.detail.wraps ? l.a() & 31 : std::min(l.a(), 32u),
                   count = op.detail.wraps ? l.b() & 31 : std::min(l.b(), 32u);
    l.set(static_cast<uint32_t>(((uint64_t{1} << count) - 1) << from));
  });
}
void g_sgxt(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint32_t bits = op.detail.wraps ? l.b() & 31 : std::min(l.b(), 32u), x = l.a();
    if (bits == 0) return l.set(0);
    const uint32_t up = x << (32 - bits);
    l.set(op.flags & op_unsigned ? up >> (32 - bits) : static_cast<uint32_t>(static_cast<int32_t>(up) >> (32 - bits)));
  });
}
void g_iabs(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [](const Lane& l) {
    const uint32_t x = l.a();
    l.set(x >> 31 ? 0 - x : x);
  });
}

namespace {
uint64_t wide_product(const Lane& l, const Op& op) {
  return op.flags & op_unsigned ? static_cast<uint64_t>(l.a()) * l.b()
                                : static_cast<uint64_t>(signed_of(l.a()) * signed_of(l.b()));
}
uint64_t addend(const Lane& l, const Op& op) { return Lane::join(l.raw(op.c, 2), l.raw(op.c, 2, 1)); }
}  // namespace

// The addend is 64 bits wide; the result is the sum's upper word.
void g_imad_hi(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask,
            [&](const Lane& l) { l.set(static_cast<uint32_t>((wide_product(l, op) + addend(l, op)) >> 32)); });
}
void g_imad_hi_carry(Warp& warp, const Op& op, uint32_t mask) {
  set_p(warp, op, mask, [&](const Lane& l) {
    const uint64_t product = wide_product(l, op), sum = product + addend(l, op);
    l.set(static_cast<uint32_t>(sum >> 32));
    return sum < product;
  });
}
void g_imad_wide_carry(Warp& warp, const Op& op, uint32_t mask) {
  set_p(warp, op, mask, [&](const Lane& l) {
    const uint64_t product = wide_product(l, op), sum = product + addend(l, op);
    l.set64(sum);
    return sum < product;
  });
}
void g_imad_wide_x(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert);
  each_lane(warp, op, mask, [&](const Lane& l) { l.set64(wide_product(l, op) + addend(l, op) + (x >> l.lane & 1)); });
}
void g_imad_x(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert);
  each_lane(warp, op, mask, [&](const Lane& l) { l.set(l.a() * l.b() + l.c() + (x >> l.lane & 1)); });
}
// Carries in x and y, carries out p (one) and q (two).
void g_iadd3_x_carry(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert), y = predicate(warp, op.y, op.y_invert);
  set_p_and_q(warp, op, mask, [&](const Lane& l) -> Answers {
    const uint64_t sum = uint64_t{l.a()} + l.b() + l.c() + (x >> l.lane & 1) + (y >> l.lane & 1);
    l.set(static_cast<uint32_t>(sum));
    return {sum >> 32 >= 1, sum >> 32 >= 2};
  });
}
void g_lea_hi_carry(Warp& warp, const Op& op, uint32_t mask) {
  set_p(warp, op, mask, [&](const Lane& l) {
    const uint64_t sum = (Lane::join(l.a(), l.c()) << op.imm >> 32) + l.b();
    l.set(static_cast<uint32_t>(sum));
    return sum >> 32 != 0;
  });
}
// The upper word of a 64-bit compare: y is the result of the lower words' compare.
void g_isetp_ex(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t x = predicate(warp, op.x, op.x_invert), y = predicate(warp, op.y, op.y_invert);
  set_p_and_q(warp, op, mask, [&](const Lane& l) {
    // For unsigned compares, xor_a and xor_b hold the bias.
    const auto a = static_cast<int32_t>(l.a()), b = static_cast<int32_t>(l.b());
    const bool low = y >> l.lane & 1;
    return compared_both_ways(op, a == b ? low : op.comparison.select[a < b ? 0 : 2] != 0, x >> l.lane & 1);
  });
}
void g_uisetp_ex(Warp& warp, const Op& op, uint32_t) {
  const auto holds = [&](uint8_t predicate, uint8_t invert) { return (warp.pred[predicate] != 0) != (invert != 0); };
  const auto a = static_cast<int32_t>((word(warp, op.a) ^ op.xor_a) + op.sign_a);
  const auto b = static_cast<int32_t>((word(warp, op.b) ^ op.xor_b) + op.sign_b);
  const bool compared = a == b ? holds(op.y, op.y_invert) : op.comparison.select[a < b ? 0 : 2] != 0;
  const Answers answers = compared_both_ways(op, compared, holds(op.x, op.x_invert));
  warp.pred[op.p] = answers.p ? kFull : 0;
  warp.pred[op.q] = answers.q ? kFull : 0;
}

// Funnel shifts of (c:a).
void g_shf(Warp& warp, const Op& op, uint32_t mask) {
  const auto [left, wraps, high, type] = op.detail.shift;
  const uint32_t width = is_wide(type) ? 64 : 32;
  const bool is_signed = type == Number::s32 || type == Number::s64;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint64_t value = Lane::join(l.a(), l.c());
    const uint32_t by = wraps ? l.b() & (width - 1) : std::min(l.b(), width);
    uint64_t r;
    if (left) {
      r = by > 63 ? 0 : value << by;
    } else if (is_signed) {
      r = static_cast<uint64_t>(static_cast<int64_t>(value) >> std::min(by, 63u));
    } else {
      r = by > 63 ? 0 : value >> by;
    }
    l.set(static_cast<uint32_t>(high ? r >> 32 : r));
  });
}
// A uniform register is one word, which stands for the first lane.
void g_ushf(Warp& warp, const Op& op, uint32_t) { g_shf(warp, op, 1); }

void g_vabsdiff(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    const int64_t a = op.flags & op_unsigned ? int64_t{l.a()} : signed_of(l.a());
    const int64_t b = op.flags & op_unsigned ? int64_t{l.b()} : signed_of(l.b());
    l.set(static_cast<uint32_t>(a > b ? a - b : b - a) + l.c());
  });
}
// Absolute differences of four bytes; .ACC: their sum. c is added.
void g_vabsdiff4(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    uint32_t packed = 0, sum = 0;
    for (int k = 0; k < 4; ++k) {
      const int64_t a = part(l.a(), k, op.detail.parts.a), b = part(l.b(), k, op.detail.parts.b);
      const auto d = static_cast<uint32_t>(a > b ? a - b : b - a);
      packed |= (d & 0xff) << (8 * k);
      sum += d;
    }
    l.set((op.detail.parts.sums ? sum : packed) + l.c());
  });
}
// Dot products of four bytes, or of two 16-bit parts with two bytes.
void g_idp(Warp& warp, const Op& op, uint32_t mask) {
  const Parts& parts = op.detail.parts;
  each_lane(warp, op, mask, [&](const Lane& l) {
    int64_t sum = l.c();
    for (int k = 0; k < parts.terms; ++k) sum += part(l.a(), k, parts.a) * part(l.b(), k + parts.first, parts.b);
    l.set(static_cast<uint32_t>(sum));
  });
}

void g_viadd_16x2(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    // Each half is negated by itself.
    const uint32_t x = l.raw(op.a, 0), y = l.raw(op.b, 1);
    l.set(by_halves(
        x, y, 0, [&](uint32_t a, uint32_t b, uint32_t) { return (op.sign_a ? 0 - a : a) + (op.sign_b ? 0 - b : b); }));
  });
}
void g_vimnmx_16x2(Warp& warp, const Op& op, uint32_t mask) {
  each_half(warp, op, mask, [&](uint32_t a, uint32_t b, uint32_t, Number type, bool least) {
    return half_min_max(op, part(a, 0, type), part(b, 0, type), least);
  });
}
void g_vimnmx3_16x2(Warp& warp, const Op& op, uint32_t mask) {
  each_half(warp, op, mask, [&](uint32_t a, uint32_t b, uint32_t c, Number type, bool least) {
    const int64_t x = part(a, 0, type), y = part(b, 0, type);
    return half_min_max(op, least ? std::min(x, y) : std::max(x, y), part(c, 0, type), least);
  });
}
void g_viaddmnmx_16x2(Warp& warp, const Op& op, uint32_t mask) {
  each_half(warp, op, mask, [&](uint32_t a, uint32_t b, uint32_t c, Number type, bool least) {
    return half_min_max(op, part(a + b, 0, type), part(c, 0, type), least);
  });
}

// Byte k is byte (selector nibble k) & 7 of `bytes`, or its sign repeated.
uint32_t permuted(uint64_t bytes, uint32_t selector) {
  uint32_t r = 0;
  for (int k = 0; k < 4; ++k) {
    const uint32_t nibble = selector >> (4 * k) & 0xf, byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7)) & 0xff);
    r |= (nibble & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * k);
  }
  return r;
}

// PRMT's modes (PTX prmt): the low two bits of b choose a row of byte selectors.
void g_prmt(Warp& warp, const Op& op, uint32_t mask) {
  constexpr uint16_t selectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // F4E
      {0x5670, 0x6701, 0x7012, 0x0123},  // B4E
      {0x0000, 0x1111, 0x2222, 0x3333},  // RC8
      {0x3210, 0x3211, 0x3222, 0x3333},  // ECL
      {0x0000, 0x1110, 0x2210, 0x3210},  // ECR
      {0x1010, 0x3232, 0x1010, 0x3232},  // RC16
  };
  each_lane(warp, op, mask, [&](const Lane& l) {
    l.set(permuted(Lane::join(l.a(), l.c()), selectors[static_cast<int>(op.detail.prmt)][l.b() & 3]));
  });
}

void g_uimad_wide(Warp& warp, const Op& op, uint32_t) {
  each_lane(warp, op, 1, [&](const Lane& l) {
    const uint64_t r = static_cast<uint64_t>(int64_t{signed_of(l.a())} * signed_of(l.b())) + l.c64();
    std::memcpy(l.file + op.dst, &r, 8);  // a pair of uniform registers is 8 consecutive bytes
  });
}

// As g_imad_wide_carry and g_imad_wide_x, with a pair of uniform registers as the sum.
void g_uimad_wide_carry(Warp& warp, const Op& op, uint32_t) {
  each_lane(warp, op, 1, [&](const Lane& l) {
    const uint64_t product = wide_product(l, op), sum = product + l.c64();
    std::memcpy(l.file + op.dst, &sum, 8);
    warp.pred[op.p] = sum < product ? kFull : 0;
  });
}
void g_uimad_wide_x(Warp& warp, const Op& op, uint32_t) {
  const uint64_t carry = (warp.pred[op.x] != 0) != (op.x_invert != 0);
  each_lane(warp, op, 1, [&](const Lane& l) {
    const uint64_t sum = wide_product(l, op) + l.c64() + carry;
    std::memcpy(l.file + op.dst, &sum, 8);
  });
}

void g_uprmt(Warp& warp, const Op& op, uint32_t) {
  each_lane(warp, op, 1, [&](const Lane& l) { l.set(permuted(Lane::join(l.a(), l.c()), l.b())); });
}

// Seven predicates as bits where the mask selects them; the other bits are a's.
void g_p2r(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    uint32_t bits = 0;
    for (int k = 0; k < 7; ++k) bits |= (warp.pred[k] >> l.lane & 1) << k;
    l.set((bits & op.imm) | (l.a() & ~op.imm));
  });
}
void g_r2p(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint32_t bits = l.a() >> 8 * op.detail.conversion.byte;
    for (int k = 0; k < 7; ++k) {
      if (op.imm >> k & 1) set_predicate(warp, static_cast<uint8_t>(k), bits >> k & 1 ? kFull : 0, 1u << l.lane);
    }
  });
}
void g_plop3_sign(Warp& warp, const Op& op, uint32_t mask) {
  set_p_and_q(warp, op, mask, [&](const Lane& l) -> Answers {
    const uint32_t index = (l.a() >> 31) * 4 + (l.b() >> 31) * 2 + (l.c() >> 31);
    return {(op.imm >> index & 1) != 0, (op.second >> index & 1) != 0};
  });
}

void g_i2i(Warp& warp, const Op& op, uint32_t mask) {
  each_lane(warp, op, mask,
            [&](const Lane& l) { l.set(static_cast<uint32_t>(saturate(signed_of(l.a()), op.detail.conversion.to))); });
}
// a above b, saturated; for four bytes, c's content goes above them.
void g_i2ip(Warp& warp, const Op& op, uint32_t mask) {
  const Number to = op.detail.conversion.to;
  const int bits = to == Number::s8 || to == Number::u8 ? 8 : 16;
  const uint32_t ones = (1u << bits) - 1;
  each_lane(warp, op, mask, [&](const Lane& l) {
    const uint32_t a = static_cast<uint32_t>(saturate(signed_of(l.a()), to)) & ones;
    const uint32_t b = static_cast<uint32_t>(saturate(signed_of(l.b()), to)) & ones;
    const uint32_t low = a << bits | b;
    l.set(bits == 8 ? l.c() << 16 | low : low);
  });
}

}  // namespace attnscope::emulator
