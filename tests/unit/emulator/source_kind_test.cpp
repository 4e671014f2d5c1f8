// Forms that run here with another kind of source than the recorded one: a register, a uniform register, a constant and
// an immediate of the same value must give the same result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "emulator/isa/forms.h"
#include "emulator/isa/report.h"
#include "unit/emulator/one_instruction.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

struct Case {
  const char* text;  // {} is the source, which holds pi's bits
  uint32_t result;
  bool immediate;  // whether the form takes an immediate
};
constexpr Case kCases[] = {
    {"IABS R12, {}", 0x40490fdb, true},
    {"POPC R12, {}", 14, true},
    {"BREV R12, {}", 0xdbf09202, true},
    {"FLO.U32 R12, {}", 30, true},
    {"I2F.U32.RP R12, {}", 0x4e80921fu + 1, true},
    {"I2F.U32.RM R12, {}", 0x4e80921fu, true},
    {"F2I.TRUNC.NTZ R12, {}", 3, false},
    {"FRND.CEIL R12, {}", 0x40800000, false},
    {"F2FP.PACK_AB.RZ R12, RZ, {}", 0x4248, false},
    {"MUFU.RSQ R12, {}", 0x3f106eba, false},
};

TEST(SourceKind, GivesOneResult) {
  const std::vector<Inputs> inputs(32, {.a = kScalar, .b = 0x3c004000});
  for (const Case& one : kCases) {
    for (const char* source : {"R8", "c[0x0][0x170]", "UR4", "0x40490fdb"}) {
      if (source[0] == '0' && !one.immediate) continue;
      check_value(fmt::format(fmt::runtime(one.text), source), inputs, [&](const Inputs&) { return one.result; });
    }
  }
  for (const char* source : {"R8", "c[0x0][0x170]", "UR4", "0x40490fdb"}) {
    const std::vector<Inputs> funnel(32, {.a = kScalar, .b = 0x11223344, .c = 12});
    check_value(fmt::format("SHF.R.U64 R12, R9, R10, {}", source), funnel, [](const Inputs&) { return 0xfdb11223u; });
    check_value(fmt::format("SHF.L.U64.HI R12, R9, R10, {}", source), funnel,
                [](const Inputs&) { return 0x90fdb112u; });
    check_value(fmt::format("SHF.L.U32.HI R12, R9, R10, {}", source), funnel,
                [](const Inputs&) { return 0x90fdb112u; });
    check_value(fmt::format("SHF.R.U32.HI R12, R9, R10, {}", source), funnel,
                [](const Inputs&) { return 0x00040490u; });
  }
  check_value("LDC.U16 R12, c[0x0][0x172]", inputs, [](const Inputs&) { return 0x4049u; });
  check_value("LDC.S8 R12, c[0x0][0x170]", inputs, [](const Inputs&) { return 0xffffffdbu; });
  check_value("VABSDIFF R12, R9, R8, 0x7", std::vector<Inputs>(32, {.a = 0xfffffffd, .b = 5}),
              [](const Inputs&) { return 15u; });
  check_value("VABSDIFF.U32 R12, R9, R8, c[0x0][0x170]", std::vector<Inputs>(32, {.a = 9, .b = 5}),
              [](const Inputs&) { return kScalar + 4; });
  for (const char* source : {"R8", "c[0x0][0x170]", "UR4", "0x40490fdb"}) {  // third sources
    const std::vector<Inputs> two(32, {.a = kScalar, .b = 0x11223344, .c = 0xff00ff});
    check_value(fmt::format("IADD3 R12, R9, R10, {}", source), two,
                [](const Inputs&) { return 0x11223344u + 0xff00ffu + kScalar; });
    check_value(fmt::format("LOP3.LUT R12, R9, R10, {}, 0xca, !PT", source), two,
                [](const Inputs&) { return (0x11223344u & 0xff00ffu) | (~0x11223344u & kScalar); });
    check_value(fmt::format("LEA.HI R12, R9, R10, {}, 0x8", source), two,
                [](const Inputs&) { return (kScalar << 8 | 0x11223344u >> 24) + 0xff00ffu; });
  }
  // Packed halves: a constant's lower half twice, and the whole constant.
  for (const char* source : {"R8.H0_H0", "c[0x0][0x170].H0_H0", "UR4.H0_H0"})
    check_value(fmt::format("HMUL2 R12, R9, {}", source), inputs, [](const Inputs&) { return 0x0fdb13dbu; });
}

TEST(SourceKind, IsWhatTheReportSays) {
  EXPECT_EQ(basis_of("IABS R,R"), Basis::recorded);
  EXPECT_EQ(basis_of("IABS R,C"), Basis::recorded);
  EXPECT_EQ(basis_of("IABS R,U"), Basis::kin);
  EXPECT_EQ(basis_of("I2F.U32.RP R,U"), Basis::kin);
  EXPECT_EQ(basis_of("LDGSTS.E.BYPASS.128 [R],d[R.64]"), Basis::recorded);
  EXPECT_EQ(basis_of("LDGSTS.E.BYPASS.128 [R],d[R.64],P"), Basis::recorded);
  EXPECT_EQ(basis_of("LDGSTS.E.64 [R],d[R.64],P"), Basis::kin) << "4 and 16 bytes are recorded with the predicate";
  EXPECT_EQ(basis_of("ATOM.E.ADD.S32.STRONG.GPU P,R,d[R.64],R"), Basis::kin) << "a sum has no sign";
  EXPECT_EQ(basis_of("LDGSTS.E.BYPASS.LTC128B.128 [R],[R.64]"), Basis::kin) << "a cache hint";
  EXPECT_NE(find_form("DSETP.NUM.AND P,P,R,R,P"), nullptr) << "DSETP.GE.AND is recorded";
  EXPECT_NE(find_form("ISETP.EQ.OR.EX P,P,R,I,P,P"), nullptr);
  EXPECT_EQ(basis_of("LDG.E.LTC128B.128.CONSTANT R,[R.64]"), Basis::kin);
  EXPECT_EQ(basis_of("ATOMG.E.ADD.64.STRONG.SM P,R,d[R.64],R"), Basis::kin) << "how far an atomic reaches";
  EXPECT_EQ(basis_of("ATOM.E.XOR.STRONG.GPU P,R,d[R.64],R"), Basis::kin) << "ATOMG of the same";
  EXPECT_NE(find_form("HSET2.BF.GTU.AND R,R,R.H0_H0,P"), nullptr) << "HSET2.BF.LT is recorded, and HSETP2.GTU";
  EXPECT_NE(find_form("DEPBAR.LE SB1,I,SBs"), nullptr);
  EXPECT_EQ(basis_of("HMNMX2.BF16_V2 R,R,F,F,P"), Basis::kin);
  EXPECT_EQ(basis_of("ULDC.64 U,C[U]"), Basis::kin);
  EXPECT_EQ(find_form("I2F.F16.S16.RP R,R"), nullptr) << "another rounding is another operation";
  EXPECT_THAT(isa_report(), ::testing::HasSubstr("recorded for sources of another kind"));
}

// Every lane copies 16 bytes to its row of shared memory, odd ones zeros; then each gets its part of four matrices.
TEST(TileCopy, PassesNoRegisterAndComesBackAsMatrices) {
  const std::string text = R"(
S2R R0, SR_TID.X
MOV R2, 0x10
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
SHF.L.U32 R20, R0, 0x4, RZ
LOP3.LUT R6, R0, 0x1, RZ, 0xc0, !PT
ISETP.EQ.AND P0, PT, R6, RZ, PT
LDGSTS.E.BYPASS.128 [R20], [R4.64], P0
LDGDEPBAR
DEPBAR.LE SB0, 0x0
LDSM.16.{}.4 R8, [R20]
IMAD.WIDE R4, R0, R2, c[0x0][0x168]
STG.E.128 [R4.64], R8
EXIT
)";
  for (const bool transposed : {false, true}) {
    const auto program = program_of(fmt::format(fmt::runtime(text), transposed ? "MT88" : "M88"),
                                    {.parameter_bytes = 16, .static_shared_bytes = 512});
    ASSERT_NE(program, nullptr);
    for (const HostIsa isa : host_isas()) {
      std::vector<uint16_t> in(256), out(256), want(256);
      for (uint32_t i = 0; i < 256; ++i) in[i] = static_cast<uint16_t>(i + 1);
      for (uint32_t lane = 0; lane < 32; ++lane) {
        for (uint32_t k = 0; k < 4; ++k) {
          for (uint32_t h = 0; h < 2; ++h) {
            const uint32_t row = transposed ? 2 * (lane % 4) + h : lane / 4,
                           column = transposed ? lane / 4 : 2 * (lane % 4) + h;
            want[8 * lane + 2 * k + h] = row % 2 == 0 ? in[64 * k + 8 * row + column] : 0;
          }
        }
      }
      const auto result = run_warps({program, bytes_of(in), bytes_of(out)}, isa);
      ASSERT_TRUE(result);
      EXPECT_EQ(out, want) << transposed;
      EXPECT_EQ(result->counters.global_load_sectors, 16u) << "the lanes that read";
      EXPECT_EQ(result->counters.shared_load_wavefronts, 4u);
      EXPECT_EQ(result->counters.shared_bank_conflicts, 0u);
    }
  }
}

TEST(TileCopy, GoingAstrayIsNamed) {
  const auto failure_of = [](const std::string& text) {
    std::vector<uint16_t> in(256);
    GlobalMemory memory;
    Launch launch;
    launch.program =
        program_of("S2R R0, SR_TID.X\nMOV R2, 0x10\nIMAD.WIDE R4, R0, R2, c[0x0][0x160]\n" + text + "\nEXIT",
                   {.parameter_bytes = 8, .static_shared_bytes = 512});
    launch.block = {32, 1, 1};
    launch.parameters = Parameters().pointer(memory.add("in", bytes_of(in), false)).bytes();
    launch.memory = &memory;
    const auto result = run(launch);
    return result.has_value() ? std::string() : result.error().message;
  };
  EXPECT_THAT(failure_of("SHF.L.U32 R20, R0, 0x5, RZ\nLDSM.16.M88.4 R8, [R20]"),
              ::testing::HasSubstr("LDSM at k.cu:5 accesses 16 bytes at 512 of shared memory"));
  EXPECT_THAT(failure_of("SHF.L.U32 R20, R0, 0x3, RZ\nLDSM.16.M88.4 R8, [R20]"),
              ::testing::HasSubstr("not a multiple of 16"));
  EXPECT_THAT(failure_of("SHF.L.U32 R20, R0, 0x4, RZ\nLDGSTS.E.128 [R20], [R4.64+0x10]"),
              ::testing::HasSubstr("0 bytes past the end of in"));
  EXPECT_THAT(failure_of("SHF.L.U32 R20, R0, 0x5, RZ\nLDGSTS.E.128 [R20], [R4.64]"),
              ::testing::HasSubstr("accesses 16 bytes at 512 of shared memory"));
}

}  // namespace
}  // namespace attnscope::emulator::testing
