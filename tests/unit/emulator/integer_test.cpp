// Integer, logic, shift, move and predicate families against PTX's definitions, at edge values.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "unit/emulator/one_instruction.h"

namespace attnscope::emulator::testing {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

u64 wide(u32 high, u32 low) { return static_cast<u64>(high) << 32 | low; }
Outputs pair(u64 value) { return {.r = static_cast<u32>(value), .s = static_cast<u32>(value >> 32)}; }

TEST(Integer, AddsThree) {
  const auto inputs = integer_inputs();
  check_value("IADD3 R12, R8, R9, R10", inputs, [](const Inputs& in) { return in.a + in.b + in.c; });
  check_value("IADD3 R12, -R8, R9, -R10", inputs, [](const Inputs& in) { return in.b - in.a - in.c; });
  check_value("IADD3 R12, R8, -0x5, RZ", inputs, [](const Inputs& in) { return in.a - 5; });
  check_value("IADD3 R12, R8, c[0x0][0x170], R10", inputs, [](const Inputs& in) { return in.a + kScalar + in.c; });
  check_value("IADD3 R12, R8, -c[0x0][0x170], R10", inputs, [](const Inputs& in) { return in.a - kScalar + in.c; });
  check_value("IADD3 R12, R8, UR4, -R10", inputs, [](const Inputs& in) { return in.a + kScalar - in.c; });
  check_value("VIADD R12, R8, 0xffffffff", inputs, [](const Inputs& in) { return in.a - 1; });
  check_value("IADD3 R12, R12, R9, R10", inputs, [](const Inputs& in) { return 0xdeadbeef + in.b + in.c; });
}

TEST(Integer, CarryIsOneOfTwoPredicates) {
  check("IADD3 R12, P3, P4, R8, R9, R10", integer_inputs(), [](const Inputs& in) {
    const u64 sum = u64{in.a} + in.b + in.c;
    return Outputs{.r = static_cast<u32>(sum), .p = sum >> 32 >= 1, .q = sum >> 32 >= 2};
  });
  // 64-bit subtraction: the low word's carry means "no borrow".
  check("IADD3 R12, P3, R8, -R9, RZ", integer_inputs(),
        [](const Inputs& in) { return Outputs{.r = in.a - in.b, .p = in.a >= in.b}; });
  check_value("IADD3.X R12, R8, R9, R10, P0, P1", integer_inputs(),
              [](const Inputs& in) { return in.a + in.b + in.c + in.p0() + in.p1(); });
  check_value("IADD3.X R12, R8, ~R9, RZ, P0, !PT", integer_inputs(),
              [](const Inputs& in) { return in.a + ~in.b + in.p0(); });
}

TEST(Integer, Multiplies) {
  const auto inputs = integer_inputs();
  check_value("IMAD R12, R8, R9, R10", inputs, [](const Inputs& in) { return in.a * in.b + in.c; });
  check_value("IMAD R12, R8, 0x55, R10", inputs, [](const Inputs& in) { return in.a * 0x55 + in.c; });
  check_value("IMAD R12, R8, R9, c[0x0][0x170]", inputs, [](const Inputs& in) { return in.a * in.b + kScalar; });
  check_value("IMAD R12, R8, UR4, R10", inputs, [](const Inputs& in) { return in.a * kScalar + in.c; });
  check_value("IMAD.IADD R12, R8, 0x1, -R10", inputs, [](const Inputs& in) { return in.a - in.c; });
  check_value("IMAD.MOV R12, RZ, RZ, -R10", inputs, [](const Inputs& in) { return 0 - in.c; });
  check_value("IMAD.SHL.U32 R12, R8, 0x80, RZ", inputs, [](const Inputs& in) { return in.a << 7; });
  check_value("IMAD.X R12, R8, 0x3, R10, P1", inputs, [](const Inputs& in) { return in.a * 3 + in.c + in.p1(); });
  check("IMAD.WIDE R12, R8, R9, R10", inputs, [](const Inputs& in) {
    return pair(static_cast<u64>(i64{static_cast<i32>(in.a)} * static_cast<i32>(in.b)) + wide(in.d, in.c));
  });
  check("IMAD.WIDE.U32 R12, R8, R9, R10", inputs,
        [](const Inputs& in) { return pair(u64{in.a} * in.b + wide(in.d, in.c)); });
  check("IMAD.WIDE R12, R8, 0x4, RZ", inputs,
        [](const Inputs& in) { return pair(static_cast<u64>(i64{static_cast<i32>(in.a)} * 4)); });
  check("IMAD.WIDE.U32 R12, R8, UR4, R10", inputs,
        [](const Inputs& in) { return pair(u64{in.a} * kScalar + wide(in.d, in.c)); });
}

TEST(Integer, ShiftsAndAdds) {
  const auto inputs = integer_inputs();
  check_value("LEA R12, R8, R9, 0x6", inputs, [](const Inputs& in) { return (in.a << 6) + in.b; });
  check_value("LEA R12, R8, UR4, 0x18", inputs, [](const Inputs& in) { return (in.a << 24) + kScalar; });
  check("LEA R12, P3, R8, R9, 0x1", inputs, [](const Inputs& in) {
    const u64 sum = u64{in.a << 1} + in.b;
    return Outputs{.r = static_cast<u32>(sum), .p = sum >> 32 != 0};
  });
  check_value("LEA.HI R12, R8, R9, R10, 0x5", inputs,
              [](const Inputs& in) { return static_cast<u32>(wide(in.c, in.a) << 5 >> 32) + in.b; });
  check_value("LEA.HI.X R12, R8, c[0x0][0x170], R10, 0x1, P1", inputs,
              [](const Inputs& in) { return static_cast<u32>(wide(in.c, in.a) << 1 >> 32) + kScalar + in.p1(); });
  check_value("LEA.HI.SX32 R12, R8, R9, 0x1a", inputs, [](const Inputs& in) {
    return static_cast<u32>(static_cast<u64>(i64{static_cast<i32>(in.a)}) << 26 >> 32) + in.b;
  });
  check_value("LEA.HI.X.SX32 R12, R8, R9, 0x1, P0", inputs, [](const Inputs& in) {
    return static_cast<u32>(static_cast<u64>(i64{static_cast<i32>(in.a)}) << 1 >> 32) + in.b + in.p0();
  });
}

// PTX shf, shl, shr: amounts above the width clamp.
u64 left(u64 x, u32 by) { return by > 63 ? 0 : x << by; }
u64 right(u64 x, u32 by) { return by > 63 ? 0 : x >> by; }

TEST(Integer, Shifts) {
  const auto inputs = integer_inputs();
  check_value("SHF.L.U32 R12, R8, R9, RZ", inputs, [](const Inputs& in) { return in.b > 31 ? 0 : in.a << in.b; });
  check_value("SHF.L.U32 R12, R8, 0x3, RZ", inputs, [](const Inputs& in) { return in.a << 3; });
  check_value("SHF.R.U32.HI R12, RZ, R9, R10", inputs, [](const Inputs& in) { return in.b > 31 ? 0 : in.c >> in.b; });
  check_value("SHF.R.S32.HI R12, RZ, R9, R10", inputs,
              [](const Inputs& in) { return static_cast<u32>(static_cast<i32>(in.c) >> std::min(in.b, 31u)); });
  check_value("SHF.R.S32.HI R12, RZ, 0x1f, R10", inputs,
              [](const Inputs& in) { return static_cast<u32>(static_cast<i32>(in.c) >> 31); });
  check_value("SHF.L.U64.HI R12, R8, R9, R10", inputs,
              [](const Inputs& in) { return static_cast<u32>(left(wide(in.c, in.a), in.b) >> 32); });
  check_value("SHF.R.U64 R12, R8, R9, R10", inputs,
              [](const Inputs& in) { return static_cast<u32>(right(wide(in.c, in.a), in.b)); });
  check_value("SHF.R.U64 R12, R8, 0x5, R10", inputs,
              [](const Inputs& in) { return static_cast<u32>(wide(in.c, in.a) >> 5); });
}

TEST(Integer, EveryLogicTable) {
  const auto inputs = integer_inputs();
  const std::vector<Inputs> few(inputs.end() - 64, inputs.end());
  for (u32 lut = 0; lut < 256; ++lut) {
    const auto expected = [lut](const Inputs& in) {
      u32 r = 0;
      for (int bit = 0; bit < 32; ++bit) {
        const u32 index = (in.a >> bit & 1) << 2 | (in.b >> bit & 1) << 1 | (in.c >> bit & 1);
        r |= (lut >> index & 1) << bit;
      }
      return r;
    };
    char text[64];
    std::snprintf(text, sizeof text, "LOP3.LUT R12, R8, R9, R10, 0x%x, !PT", lut);
    check_value(text, few, expected);
    std::snprintf(text, sizeof text, "LOP3.LUT P3, R12, R8, R9, R10, 0x%x, !PT", lut);
    check(text, few, [&](const Inputs& in) { return Outputs{.r = expected(in), .p = expected(in) != 0}; });
  }
  check("LOP3.LUT P3, RZ, R8, 0x1f, RZ, 0xc0, !PT", inputs,
        [](const Inputs& in) { return Outputs{.p = (in.a & 0x1f) != 0}; });
}

TEST(Integer, PermutesBytes) {
  check_value("PRMT R12, R8, R9, R10", integer_inputs(), [](const Inputs& in) {
    u32 r = 0;
    for (int k = 0; k < 4; ++k) {
      const u32 nibble = in.b >> (4 * k) & 15;
      const u32 byte = static_cast<u32>(wide(in.c, in.a) >> (8 * (nibble & 7))) & 0xff;
      r |= (nibble & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * k);
    }
    return r;
  });
}

TEST(Integer, MinimumAndMaximum) {
  const auto inputs = integer_inputs();
  const auto s = [](u32 x) { return static_cast<i32>(x); };
  check_value("IMNMX R12, R8, R9, PT", inputs, [&](const Inputs& in) { return u32(std::min(s(in.a), s(in.b))); });
  check_value("IMNMX R12, R8, R9, !PT", inputs, [&](const Inputs& in) { return u32(std::max(s(in.a), s(in.b))); });
  check_value("IMNMX R12, R8, R9, P1", inputs,
              [&](const Inputs& in) { return u32(in.p1() ? std::min(s(in.a), s(in.b)) : std::max(s(in.a), s(in.b))); });
  check_value("IMNMX.U32 R12, R8, R9, PT", inputs, [&](const Inputs& in) { return std::min(in.a, in.b); });
  check_value("VIMNMX.RELU R12, R8, UR4, PT", inputs,
              [&](const Inputs& in) { return u32(std::max(0, std::min(s(in.a), s(kScalar)))); });
  check_value("VIMNMX3 R12, R8, R9, R10, !PT", inputs, [&](const Inputs& in) {
    return u32(std::max({s(in.a), s(in.b), s(in.c)}));
  });
  check_value("VIADDMNMX R12, R8, 0x20, R10, PT", inputs,
              [&](const Inputs& in) { return u32(std::min(s(in.a + 0x20), s(in.c))); });
  check_value("VIADDMNMX.RELU R12, R8, R9, R10, !PT", inputs, [&](const Inputs& in) {
    return u32(std::max({0, s(in.a + in.b), s(in.c)}));
  });
}

TEST(Integer, Compares) {
  const auto inputs = integer_inputs();
  struct Compare {
    const char* name;
    bool less, equal, greater;
  };
  for (const Compare& c : {Compare{"LT", 1, 0, 0}, Compare{"EQ", 0, 1, 0}, Compare{"LE", 1, 1, 0},
                           Compare{"GT", 0, 0, 1}, Compare{"NE", 1, 0, 1}, Compare{"GE", 0, 1, 1}}) {
    const auto holds = [c](auto a, auto b) { return a < b ? c.less : a == b ? c.equal : c.greater; };
    const std::string name = c.name;
    check("ISETP." + name + ".AND P3, P4, R8, R9, P0", inputs, [&](const Inputs& in) {
      const bool r = holds(static_cast<i32>(in.a), static_cast<i32>(in.b));
      return Outputs{.p = r && in.p0(), .q = !r && in.p0()};
    });
    check("ISETP." + name + ".U32.OR P3, P4, R8, c[0x0][0x170], !P1", inputs, [&](const Inputs& in) {
      const bool r = holds(in.a, kScalar);
      return Outputs{.p = r || !in.p1(), .q = !r || !in.p1()};
    });
  }
}

TEST(Integer, SelectsAndMoves) {
  const auto inputs = integer_inputs();
  check_value("SEL R12, R8, R9, P0", inputs, [](const Inputs& in) { return in.p0() ? in.a : in.b; });
  check_value("SEL R12, RZ, 0xffffffff, !P0", inputs, [](const Inputs& in) { return in.p0() ? 0xffffffff : 0; });
  check_value("MOV R12, R9", inputs, [](const Inputs& in) { return in.b; });
  check_value("MOV R12, UR4", inputs, [](const Inputs&) { return kScalar; });
  check_value("HFMA2.MMA R12, -RZ, RZ, 1.875, 0 # 0x3f800000", inputs, [](const Inputs&) { return 0x3f800000u; });
  check("CS2R R12, SRZ", inputs, [](const Inputs&) { return Outputs{.r = 0, .s = 0}; });
  check("LDC.64 R12, c[0x0][0x0]", inputs, [](const Inputs&) { return Outputs{.r = 32, .s = 1}; });  // block size
  // A guarded instruction must not write RZ either.
  check("MOV RZ, R9", inputs, [](const Inputs&) { return Outputs{}; });
}

TEST(Integer, PredicateLogic) {
  const auto inputs = integer_inputs();
  for (u32 lut : {0x80u, 0xfeu, 0x2au, 0x96u, 0x08u}) {
    char text[64];
    std::snprintf(text, sizeof text, "PLOP3.LUT P3, P4, P0, !P1, P2, 0x%x, 0x%x", lut, 0xff ^ lut);
    check(text, inputs, [lut](const Inputs& in) {
      const u32 index = in.p0() << 2 | !in.p1() << 1 | u32{in.p2()};
      return Outputs{.p = (lut >> index & 1) != 0, .q = (lut >> index & 1) == 0};
    });
  }
}

TEST(Integer, BytesAsFloatsAndAsPredicates) {
  const std::vector<Inputs> inputs = integer_inputs();
  const auto float_of = [](u32 byte) { return std::bit_cast<u32>(static_cast<float>(byte & 0xff)); };
  check_value("I2F.U8 R12, R8", inputs, [&](const Inputs& in) { return float_of(in.a); });
  check_value("I2F.U8 R12, R8.B1", inputs, [&](const Inputs& in) { return float_of(in.a >> 8); });
  check_value("I2F.U8.RM R12, R8.B2", inputs, [&](const Inputs& in) { return float_of(in.a >> 16); });
  check_value("I2F.U8.RZ R12, R8", inputs, [&](const Inputs& in) { return float_of(in.a); });
  check_value("I2F.U8 R12, R8.B3", inputs, [&](const Inputs& in) { return float_of(in.a >> 24); });
  const auto bits = [](u32 byte) { return Outputs{.p = (byte >> 3 & 1) != 0, .q = (byte >> 4 & 1) != 0}; };
  check("R2P PR, R8, 0x18", inputs, [&](const Inputs& in) { return bits(in.a); });
  check("R2P PR, R8.B1, 0x18", inputs, [&](const Inputs& in) { return bits(in.a >> 8); });
  check("R2P PR, R8.B2, 0x18", inputs, [&](const Inputs& in) { return bits(in.a >> 16); });
}

// For a predicate that all lanes share, the vote is all lanes that vote, or none.
TEST(Integer, BallotsAndWhetherAllAgree) {
  const std::vector<Inputs> inputs(32);
  check(
      "VOTE.ALL R12, P3, PT", inputs, [](const Inputs&) { return Outputs{.r = 0xffffffff, .p = true}; }, false);
  check(
      "VOTE.ALL R12, P3, !PT", inputs, [](const Inputs&) { return Outputs{.r = 0, .p = false}; }, false);
  std::vector<Inputs> odd(32);
  for (size_t lane = 1; lane < 32; lane += 2) odd[lane].d = 1;
  check(
      "VOTE.ALL R12, P3, P0", odd, [](const Inputs&) { return Outputs{.r = 0xaaaaaaaa, .p = false}; }, false);
}

TEST(Integer, AllCtasRunOnOneSmAndAnImmediateIsConverted) {
  check_value("S2R R12, SR_VIRTUALSMID", integer_inputs(), [](const Inputs&) { return 0u; });
  check_value("I2FP.F32.S32.RZ R12, 0x4", integer_inputs(), [](const Inputs&) { return 0x40800000u; });
}

}  // namespace
}  // namespace attnscope::emulator::testing
