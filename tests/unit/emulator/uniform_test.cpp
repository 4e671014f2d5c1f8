// The uniform datapath: one value per warp. Inputs differ by CTA and come through R2UR.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/emulator/one_instruction.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;

struct Uniform {
  u32 a, b, c, d;
  bool up0() const { return d & 1; }
};
struct Result64 {
  u32 r, s = 0xdeadbeef;
  bool p = false;
};

// UR8…UR11 = a, b, c, d; UP0 is d's bit 0. The instruction writes UR12, UR13 and UP3.
void check_uniform(const std::string& instruction, const std::function<Result64(const Uniform&)>& expected) {
  const auto program = program_of(R"(
S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
MOV R2, 0x10
IMAD.WIDE.U32 R4, R1, R2, c[0x0][0x160]
LDG.E.128 R8, [R4.64]
R2UR UR8, R8
R2UR UR9, R9
R2UR UR10, R10
R2UR UR11, R11
ULOP3.LUT UP0, UR14, UR11, 0x1, URZ, 0xc0, !UPT
UMOV UR12, 0xdeadbeef
UMOV UR13, 0xdeadbeef
UISETP.NE.AND UP3, UPT, URZ, URZ, UPT
)" + instruction + R"(
IMAD.U32 R12, RZ, RZ, UR12
MOV R13, UR13
MOV R14, RZ
PLOP3.LUT P0, PT, PT, PT, UP3, 0x80, 0x0
@P0 MOV R14, 0x1
MOV R15, RZ
IMAD.WIDE.U32 R4, R1, R2, c[0x0][0x168]
ISETP.NE.AND P1, PT, R0, RZ, PT
@!P1 STG.E.128 [R4.64], R12
EXIT
)",
                                  {.parameter_bytes = 16});
  ASSERT_NE(program, nullptr);
  std::vector<Inputs> inputs = integer_inputs();
  std::vector<Uniform> in;
  for (const Inputs& i : inputs) in.push_back({i.a, i.b, i.c, i.d});
  std::vector<u32> out(in.size() * 4);
  ASSERT_TRUE(run_warps({program, bytes_of(in), bytes_of(out), static_cast<u32>(in.size())}));
  for (size_t i = 0; i < in.size(); ++i) {
    const Result64 want = expected(in[i]);
    ASSERT_EQ((std::vector<u32>{out[4 * i], out[4 * i + 1], out[4 * i + 2]}),
              (std::vector<u32>{want.r, want.s, want.p}))
        << instruction << std::hex << " a=" << in[i].a << " b=" << in[i].b << " c=" << in[i].c << " d=" << in[i].d;
  }
}

TEST(Uniform, WideProductsHaveSigns) {
  const auto product = [](u32 a, u32 b, u64 c) {
    const u64 r = static_cast<u64>(static_cast<int64_t>(static_cast<i32>(a)) * static_cast<i32>(b)) + c;
    return Result64{static_cast<u32>(r), static_cast<u32>(r >> 32)};
  };
  check_uniform("UIMAD.WIDE UR12, UR8, UR9, UR10",
                [&](const Uniform& u) { return product(u.a, u.b, u.c | static_cast<u64>(u.d) << 32); });
  check_uniform("UIMAD.WIDE UR12, UR8, 0x2, URZ", [&](const Uniform& u) { return product(u.a, 2, 0); });
}

TEST(Uniform, BytesOfRegistersAndNarrowConstants) {
  const auto sign_extended = [](const Uniform& u) {
    return Result64{static_cast<u32>(static_cast<i32>(u.a << 16) >> 16)};
  };
  check_uniform("UPRMT UR12, UR8, 0x9910, URZ", sign_extended);
  check_uniform("UPRMT UR12, URZ, 0xddd4, UR8",
                [](const Uniform& u) { return Result64{(u.a & 0xff) | (u.a & 0x8000 ? 0xffffff00u : 0)}; });
  check_uniform("UPRMT UR12, UR8, UR9, UR10", [](const Uniform& u) {
    u32 r = 0;
    for (int k = 0; k < 4; ++k) {
      const u32 nibble = u.b >> (4 * k) & 0xf, byte = (nibble & 4 ? u.c : u.a) >> (8 * (nibble & 3)) & 0xff;
      r |= (nibble & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * k);
    }
    return Result64{r};
  });
  // The parameters begin with the address of `in`, a multiple of 256 with zeros above its sixth byte.
  check_uniform("ULDC.U8 UR12, c[0x0][0x160]", [](const Uniform&) { return Result64{0}; });
  // Both pointers are below 2^48, so the upper halves of their upper words are 0; here the address is in a register.
  check_uniform("ULOP3.LUT UR14, UR8, 0x8, URZ, 0xc0, !UPT\nULDC.U16 UR12, c[0x0][UR14+0x166]",
                [](const Uniform&) { return Result64{0}; });
  check_uniform(
      "UMOV UR14, 0x8\nULDC.64 UR16, c[0x0][UR14+0x158]\nULDC.64 UR12, c[0x0][0x160]\nUIADD3 UR12, UR12, -UR16, URZ\n"
      "UIADD3 UR13, UR13, -UR17, URZ",
      [](const Uniform&) {
        return Result64{0, 0};
      });
}

TEST(Uniform, Arithmetic) {
  check_uniform("UIADD3 UR12, UR8, UR9, UR10", [](const Uniform& u) { return Result64{u.a + u.b + u.c}; });
  check_uniform("UIADD3 UR12, -UR8, UR9, URZ", [](const Uniform& u) { return Result64{u.b - u.a}; });
  check_uniform("UIADD3 UR12, UP3, UR8, UR9, URZ", [](const Uniform& u) {
    return Result64{u.a + u.b, 0xdeadbeef, (u64{u.a} + u.b) >> 32 != 0};
  });
  check_uniform("UIADD3 UR12, UP3, UR8, -UR9, URZ", [](const Uniform& u) {
    return Result64{u.a - u.b, 0xdeadbeef, u.a >= u.b};
  });
  check_uniform("UIADD3.X UR12, UR8, UR9, URZ, UP0, !UPT",
                [](const Uniform& u) { return Result64{u.a + u.b + u.up0()}; });
  check_uniform("UIMAD UR12, UR8, UR9, UR10", [](const Uniform& u) { return Result64{u.a * u.b + u.c}; });
  check_uniform("UIMAD UR12, UR8, 0x30, -UR10", [](const Uniform& u) { return Result64{u.a * 0x30 - u.c}; });
  check_uniform("UIMAD.WIDE.U32 UR12, UR8, UR9, UR10", [](const Uniform& u) {
    const u64 r = u64{u.a} * u.b + (u64{u.d} << 32 | u.c);
    return Result64{static_cast<u32>(r), static_cast<u32>(r >> 32)};
  });
  const auto wide = [](const Uniform& u, u64 factor) {
    const u64 product = u.a * factor, r = product + (u64{u.d} << 32 | u.c);
    return Result64{static_cast<u32>(r), static_cast<u32>(r >> 32), r < product};
  };
  check_uniform("UIMAD.WIDE.U32 UR12, UP3, UR8, UR9, UR10", [&](const Uniform& u) { return wide(u, u.b); });
  check_uniform("UIMAD.WIDE.U32 UR12, UP3, UR8, 0xfffffffb, UR10",
                [&](const Uniform& u) { return wide(u, 0xfffffffbu); });
  check_uniform("UIMAD.WIDE.U32.X UR12, UR8, UR9, UR10, UP0", [](const Uniform& u) {
    const u64 r = u64{u.a} * u.b + (u64{u.d} << 32 | u.c) + u.up0();
    return Result64{static_cast<u32>(r), static_cast<u32>(r >> 32)};
  });
  check_uniform("ULEA UR12, UP3, UR8, UR9, 0x1", [](const Uniform& u) {
    const u64 r = u64{u.a << 1} + u.b;
    return Result64{static_cast<u32>(r), 0xdeadbeef, r >> 32 != 0};
  });
  check_uniform("ULEA UR12, UR8, UR9, 0x18", [](const Uniform& u) { return Result64{(u.a << 24) + u.b}; });
  check_uniform("ULEA.HI UR12, UP3, UR8, UR9, UR10, 0x2", [](const Uniform& u) {
    const u64 r = u64{u.c << 2 | u.a >> 30} + u.b;
    return Result64{static_cast<u32>(r), 0xdeadbeef, r >> 32 != 0};
  });
  check_uniform("ULEA.HI.X UR12, UR8, UR9, UR10, 0x1, UP0",
                [](const Uniform& u) { return Result64{(u.c << 1 | u.a >> 31) + u.b + u.up0()}; });
  check_uniform("ULEA.HI.X.SX32 UR12, UR8, UR9, 0x1, UP0", [](const Uniform& u) {
    return Result64{static_cast<u32>(static_cast<i32>(u.a) >> 31) + u.b + u.up0()};
  });
}

TEST(Uniform, LogicShiftsSelects) {
  check_uniform("ULOP3.LUT UR12, UR8, UR9, UR10, 0xe2, !UPT",
                [](const Uniform& u) { return Result64{(u.a & u.b) | (u.c & ~u.b)}; });
  check_uniform("ULOP3.LUT UP3, UR12, UR8, 0x3, URZ, 0xc0, !UPT", [](const Uniform& u) {
    return Result64{u.a & 3, 0xdeadbeef, (u.a & 3) != 0};
  });
  check_uniform("USHF.R.S64 UR12, UR8, 0x6, UR10", [](const Uniform& u) { return Result64{u.c << 26 | u.a >> 6}; });
  check_uniform("USHF.R.U64 UR12, UR8, 0x28, UR10", [](const Uniform& u) { return Result64{u.c >> 8}; });
  check_uniform("USHF.L.U32 UR12, UR8, 0x6, URZ", [](const Uniform& u) { return Result64{u.a << 6}; });
  check_uniform("USHF.L.U64.HI UR12, UR8, 0x6, UR10", [](const Uniform& u) { return Result64{u.c << 6 | u.a >> 26}; });
  check_uniform("USHF.R.S32.HI UR12, URZ, 0x1f, UR10",
                [](const Uniform& u) { return Result64{static_cast<u32>(static_cast<i32>(u.c) >> 31)}; });
  check_uniform("USHF.R.U32.HI UR12, URZ, UR9, UR10",
                [](const Uniform& u) { return Result64{u.b > 31 ? 0 : u.c >> u.b}; });
  check_uniform("USEL UR12, UR8, UR9, UP0", [](const Uniform& u) { return Result64{u.up0() ? u.a : u.b}; });
  check_uniform("@UP0 UMOV UR12, UR8", [](const Uniform& u) { return Result64{u.up0() ? u.a : 0xdeadbeef}; });
  check_uniform("ULDC.64 UR12, c[0x0][0x0]", [](const Uniform&) { return Result64{32, 1}; });
}

TEST(Uniform, Compares) {
  check_uniform("UISETP.LT.AND UP3, UPT, UR8, UR9, UP0", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, static_cast<i32>(u.a) < static_cast<i32>(u.b) && u.up0()};
  });
  check_uniform("UISETP.GE.U32.OR UP3, UPT, UR8, UR9, UP0", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, u.a >= u.b || u.up0()};
  });
  check_uniform("UISETP.NE.AND UP3, UPT, UR8, 0x1, UPT", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, u.a != 1};
  });
}

TEST(Uniform, PredicatesByATable) {
  for (const u32 table : {0x80u, 0xe8u, 0x96u, 0x2au, 0x02u}) {
    const auto expected = [table](const Uniform& u) {
      const u32 index = u32{u.up0()} << 2 | (~u.a & 1) << 1 | (u.b & 1);
      return Result64{0xdeadbeef, 0xdeadbeef, (table >> index & 1) != 0};
    };
    const std::string inputs =
        "ULOP3.LUT UP1, UR14, UR8, 0x1, URZ, 0xc0, !UPT\nULOP3.LUT UP2, UR14, UR9, 0x1, URZ, 0xc0, !UPT\n";
    check_uniform(inputs + fmt::format("UPLOP3.LUT UP3, UPT, UP0, !UP1, UP2, {:#x}, 0xff", table), expected);
    check_uniform(inputs + fmt::format("UPLOP3.LUT UPT, UP3, UP0, !UP1, UP2, 0xff, {:#x}", table), expected);
  }
}

// The upper words of a 64-bit compare: the lower words' answer counts where they are equal.
TEST(Uniform, ComparesUpperWords) {
  check_uniform("UISETP.LT.AND.EX UP3, UPT, UR8, UR9, UPT, UP0", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, static_cast<i32>(u.a) < static_cast<i32>(u.b) || (u.a == u.b && u.up0())};
  });
  check_uniform("UISETP.GE.U32.AND.EX UP3, UPT, UR8, UR9, UP0, !UP0", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, (u.a > u.b || (u.a == u.b && !u.up0())) && u.up0()};
  });
  check_uniform("UISETP.NE.OR.EX UP3, UPT, UR8, 0x0, !UPT, UP0", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, u.a != 0 || u.up0()};
  });
}

TEST(Uniform, ReversesBits) {
  check_uniform("UBREV UR12, UR8", [](const Uniform& u) {
    u32 r = 0;
    for (int i = 0; i < 32; ++i) r |= (u.a >> i & 1) << (31 - i);
    return Result64{r};
  });
}

// Generic addresses that lead to shared memory: lanes and warp agree.
TEST(Uniform, TheSharedWindowIsWhatLanesSee) {
  check_uniform(
      "S2UR UR12, SR_SWINHI\nS2R R14, SR_SWINHI\nR2UR UR13, R14\nUIADD3 UR12, UR12, -UR13, URZ\nUMOV UR13, UR9",
      [](const Uniform& u) {
        return Result64{0, u.b};
      });
}

TEST(Uniform, Votes) {
  // Every thread holds the same P1, so all and any agree; lanes that a branch leaves out do not vote.
  check_uniform("ISETP.LT.AND P1, PT, R8, R9, PT\nVOTEU.ALL UP3, P1", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, static_cast<i32>(u.a) < static_cast<i32>(u.b)};
  });
  // P1 holds in lanes below a: in all of them only if a is 32 or more, in any if it is 1 or more (unsigned).
  check_uniform("ISETP.LT.U32.AND P1, PT, R0, R8, PT\nVOTEU.ALL UP3, P1", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, u.a >= 32};
  });
  check_uniform("ISETP.LT.U32.AND P1, PT, R0, R8, PT\nVOTEU.ANY UP3, P1", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, u.a >= 1};
  });
  check_uniform("ISETP.LT.U32.AND P1, PT, R0, R8, PT\nVOTEU.ALL UP3, !P1", [](const Uniform& u) {
    return Result64{0xdeadbeef, 0xdeadbeef, u.a == 0};
  });
  check_uniform("ISETP.LT.U32.AND P1, PT, R0, R8, PT\nISETP.LT.U32.AND P2, PT, R0, 0x10, PT\n@P2 VOTEU.ALL UP3, P1",
                [](const Uniform& u) {
                  return Result64{0xdeadbeef, 0xdeadbeef, u.a >= 16};
                });
}

}  // namespace
}  // namespace attnscope::emulator::testing
