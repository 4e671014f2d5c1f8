// Divergence, convergence and CTA barriers, with counts that can be checked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::HasSubstr;

struct Ran {
  std::vector<uint32_t> out;
  Result<RunResult> result;
};

// Runs `text` with c[0x0][0x160] = out, one word per thread (R0 = thread of the CTA, R4:R5 = its address).
Ran run_text(const std::string& text, uint32_t threads, RunOptions options = {}, TextOptions text_options = {}) {
  text_options.parameter_bytes = 8;
  Ran ran{std::vector<uint32_t>(threads, 0xaaaaaaaa), fail(Stage::internal, "not run")};
  GlobalMemory memory;
  Launch launch;
  launch.program =
      program_of("S2R R0, SR_TID.X\nMOV R2, 0x4\nIMAD.WIDE R4, R0, R2, c[0x0][0x160]\n" + text, text_options);
  if (launch.program == nullptr) return ran;
  launch.block = {threads, 1, 1};
  launch.parameters = Parameters().pointer(memory.add("out", bytes_of(ran.out), true)).bytes();
  launch.memory = &memory;
  ran.result = run(launch, options);
  return ran;
}

TEST(Divergence, CountsAreTheCodes) {
  const Ran ran = run_text(R"(BSSY B0, `(join)
ISETP.GE.AND P0, PT, R0, 0xa, PT
@P0 BRA `(high)
MOV R3, 0x1
BRA `(join)
high:
MOV R3, 0x2
join:
BSYNC B0
IADD3 R3, R3, 0x64, RZ
STG.E [R4.64], R3
EXIT)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i < 10 ? 101u : 102u);
  const RunCounters& c = ran.result->counters;
  // 3 + 3 together; 2 + 1 (10 lanes) and 1 + 1 (22 lanes) apart, with a BSYNC in each; 3 together.
  EXPECT_EQ(c.warp_instructions, 3u + 3 + 3 + 2 + 3);
  EXPECT_EQ(c.threads, 32u * 9 + 10 * 3 + 22 * 2);
  EXPECT_EQ(c.global_store_sectors, 4u);
  EXPECT_EQ(c.global_store_requests, 1u);
}

TEST(Divergence, LoopsOfDifferentLength) {
  // Each lane sums 1 … lane; lanes leave one by one and meet at BSYNC.
  const Ran ran = run_text(R"(MOV R3, RZ
MOV R6, RZ
BSSY B0, `(join)
again:
ISETP.GE.AND P0, PT, R6, R0, PT
@P0 BRA `(join)
IADD3 R6, R6, 0x1, RZ
IADD3 R3, R3, R6, RZ
BRA `(again)
join:
BSYNC B0
STG.E [R4.64], R3
EXIT)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i * (i + 1) / 2);
  EXPECT_EQ(ran.result->counters.global_store_requests, 1u);  // together again
}

// As sm_90's code does for a uniform address that differs between lanes: one value a turn, and all lanes stay together.
TEST(Divergence, ALoopOverTheLanesValues) {
  const Ran ran = run_text(R"(LOP3.LUT R6, R0, 0x3, RZ, 0xc0, !PT
MOV R3, RZ
PLOP3.LUT P1, PT, PT, PT, PT, 0x80, 0x0
again:
@P1 IADD3 R3, R3, 0x1, RZ
@P1 R2UR P1, UR9, R6
@P1 BRA.U.ANY `(again)
STG.E [R4.64], R3
EXIT)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], 1 + i % 4);
  EXPECT_EQ(ran.result->counters.threads, 32u * ran.result->counters.warp_instructions);
}

TEST(Divergence, ACollectiveWarpsyncJoinsTheWholeWarp) {
  const Ran ran = run_text(R"(ISETP.GE.AND P0, PT, R0, 0xa, PT
@P0 BRA `(high)
MOV R3, 0x1
BRA `(join)
high:
MOV R3, 0x2
join:
WARPSYNC.COLLECTIVE.ALL `(behind)
STG.E [R4.64], R3
ENDCOLLECTIVE
behind:
EXIT)",
                           32, {}, {.arch = 80});
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i < 10 ? 1u : 2u);
  EXPECT_EQ(ran.result->counters.global_store_requests, 1u);
}

TEST(Divergence, BreakLeavesTheBarrier) {
  const Ran ran = run_text(R"(MOV R3, 0x7
BSSY B0, `(join)
ISETP.GE.AND P0, PT, R0, 0x10, PT
@P0 BREAK B0
@P0 BRA `(out)
MOV R3, 0x5
join:
BSYNC B0
STG.E [R4.64], R3
EXIT
out:
STG.E [R4.64], R3
EXIT)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i < 16 ? 5u : 7u);
}

TEST(Divergence, ExitedLanesAreNotWaitedFor) {
  const Ran ran = run_text(R"(BSSY B0, `(join)
ISETP.GE.AND P0, PT, R0, 0x10, PT
@P0 EXIT
join:
BSYNC B0
WARPSYNC 0xffffffff
SHFL.BFLY PT, R3, R0, 0x1, 0x1f
STG.E [R4.64], R3
EXIT)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i < 16 ? i ^ 1 : 0xaaaaaaaa);
}

TEST(Divergence, WarpsyncJoinsAcrossTheBranch) {
  const Ran ran = run_text(R"(MOV R6, 0xffffffff
ISETP.GE.AND P0, PT, R0, 0x8, PT
@P0 BRA `(high)
IADD3 R3, R0, 0x3e8, RZ
BRA `(join)
high:
IADD3 R3, R0, 0x7d0, RZ
join:
WARPSYNC R6
SHFL.IDX PT, R7, R3, 0x1f, 0x1f
STG.E [R4.64], R7
EXIT)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t x : ran.out) EXPECT_EQ(x, 2031u);
  EXPECT_EQ(ran.result->counters.global_store_requests, 1u);
}

TEST(Divergence, BranchOnDivergence) {
  const auto text = [](const std::string& before) {
    return "UMOV UR4, 0xffffffff\n" + before + R"(
BRA.DIV UR4, `(apart)
MOV R3, 0x1
BRA `(store)
apart:
MOV R3, 0x2
store:
STG.E [R4.64], R3
BAR.SYNC 0x0
EXIT)";
  };
  EXPECT_THAT(run_text(text("NOP"), 32).out, ::testing::Each(1u));
  // The two sides of a branch to the next instruction reach BRA.DIV separately.
  const Ran split = run_text(text("ISETP.GE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(next)\nnext:"), 32);
  ASSERT_TRUE(split.result.has_value()) << split.result.error().message;
  EXPECT_THAT(split.out, ::testing::Each(2u));
}

TEST(Divergence, CallsReturnWhereTheRegisterSays) {
  const Ran ran = run_text(R"(MOV R20, 0x60
MOV R21, 0x0
CALL.REL.NOINC `(double)
STG.E [R4.64], R0
EXIT
double:
IADD3 R0, R0, R0, RZ
RET.REL.NODEC R20 `(k)
)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], 2 * i);
}

TEST(Divergence, CallsByAddressReachEachLanesFunction) {
  // Even lanes call the function at byte 0xc0 of the code, odd lanes the one at 0xe0.
  const Ran ran = run_text(R"(MOV R20, 0xa0
MOV R21, 0x0
LOP3.LUT R8, R0, 0x1, RZ, 0xc0, !PT
SHF.L.U32 R8, R8, 0x5, RZ
IADD3 R8, R8, 0xc0, RZ
MOV R9, 0x7c00
CALL.ABS.NOINC R8
STG.E [R4.64], R0
EXIT
IADD3 R0, R0, R0, RZ
RET.REL.NODEC R20 `(k)
IADD3 R0, R0, 0x64, RZ
RET.REL.NODEC R20 `(k)
)",
                           32);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i % 2 == 0 ? 2 * i : i + 0x64);
}

TEST(Barrier, WarpsSeeEachOthersStores) {
  const Ran ran = run_text(R"(SHF.L.U32 R6, R0, 0x2, RZ
STS [R6], R0
BAR.SYNC.DEFER_BLOCKING 0x0
LOP3.LUT R7, R6, 0x80, RZ, 0x3c, !PT
LDS R3, [R7]
STG.E [R4.64], R3
EXIT)",
                           64, {}, {.static_shared_bytes = 256});
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.out[i], i ^ 32);
  const RunCounters& c = ran.result->counters;
  EXPECT_EQ(c.barriers, 2u);
  EXPECT_EQ(c.shared_store_wavefronts, 2u);
  EXPECT_EQ(c.shared_load_wavefronts, 2u);
  EXPECT_EQ(c.shared_other_wavefronts, 1u + 2u) << "the barrier opens once, and each warp reads SR_TID";
  EXPECT_EQ(c.shared_bank_conflicts, 0u);
  EXPECT_EQ(c.warp_instructions, 2u * 10);
  EXPECT_EQ(c.by_class[static_cast<size_t>(InstructionClass::shared_load)], 2u);
}

// As an H200 counts them (tests/data/gpu/h200_rungs.json).
TEST(Wavefronts, AGlobalLoadWithEveryLaneOffIsOne) {
  const Ran ran = run_text(R"(ISETP.GE.AND P0, PT, R0, 0x20, PT
MOV R3, 0x5
@P0 LDG.E R3, [R4.64]
STG.E [R4.64], R3
EXIT)",
                           64, {}, {.static_shared_bytes = 0});
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  const RunCounters& c = ran.result->counters;
  EXPECT_EQ(c.global_load_requests, 1u) << "of the second warp";
  EXPECT_EQ(c.shared_other_wavefronts, 1u + 2u) << "the first warp's, and each warp reads SR_TID";
}

// Of one warp whose lanes' addresses are in R6, as Nsight Compute counts them (op_atom).
TEST(Wavefronts, ASharedAtomicCountsAsOnAnH200) {
  std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/gpu/h200_wavefronts.txt");
  std::map<std::string, double> recorded;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double total = 0, loads = 0, stores = 0, atomics = 0;
    if (words >> name >> total >> loads >> stores >> atomics) recorded[name] = atomics;
  }
  const std::string word = "SHF.L.U32 R6, R0, 0x2, RZ\n", slot = "SHF.L.U32 R6, R0, 0x4, RZ\n";
  const std::string two = "LOP3.LUT R6, R0, 0x1, RZ, 0xc0, !PT\nSHF.L.U32 R6, R6, 0x2, RZ\n";
  const std::string bank = "SHF.L.U32 R6, R0, 0x7, RZ\n";
  struct Case {
    const char* name;
    std::string code;
    uint64_t ideal = 1;
  };
  for (const auto& [name, code, ideal] :
       {Case{"atoms_add", word + "ATOMS.ADD R3, [R6], R0"}, Case{"atoms_strided", slot + "ATOMS.ADD R3, [R6], R0"},
        Case{"atoms_one", "ATOMS.POPC.INC.32 RZ, [RZ]"}, Case{"atoms_two", two + "ATOMS.ADD RZ, [R6], R0"},
        Case{"atoms_same_bank", bank + "ATOMS.ADD RZ, [R6], R0"}, Case{"atoms_exch", word + "ATOMS.EXCH R3, [R6], R0"},
        Case{"atoms_cas", word + "ATOMS.CAS R3, [R6], R0, R0", 2}}) {
    const Ran ran = run_text(code + "\nEXIT", 32, {}, {.static_shared_bytes = 4096});
    ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
    const RunCounters& c = ran.result->counters;
    ASSERT_TRUE(recorded.contains(name)) << name;
    EXPECT_EQ(static_cast<double>(c.shared_atomic_wavefronts), recorded.at(name)) << name;
    EXPECT_EQ(c.shared_ideal_wavefronts, ideal) << name;
    EXPECT_EQ(c.shared_bank_conflicts, c.shared_atomic_wavefronts - ideal) << name;
    EXPECT_EQ(c.shared_wavefronts(), c.shared_atomic_wavefronts + 1) << name << ": the warp reads SR_TID";
  }
}

TEST(Barrier, SharedMemoryStartsZeroed) {
  const Ran ran = run_text(R"(SHF.L.U32 R6, R0, 0x2, RZ
LDS R3, [R6]
MOV R7, 0x5
STS [R6], R7
STG.E [R4.64], R3
EXIT)",
                           32, {}, {.static_shared_bytes = 128});
  ASSERT_TRUE(ran.result.has_value());
  for (uint32_t x : ran.out) EXPECT_EQ(x, 0u);
}

TEST(Barrier, ArrivalsCountWhereverTheyAre) {
  // Warp 0 passes two barriers, warp 1 one: warp 1's exit counts as its second arrival, as on the hardware.
  const Ran ran = run_text(R"(ISETP.GE.AND P0, PT, R0, 0x20, PT
@P0 BRA `(one)
BAR.SYNC 0x0
BAR.SYNC 0x0
STG.E [R4.64], R0
EXIT
one:
BAR.SYNC 0x0
STG.E [R4.64], R0
EXIT)",
                           64);
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.out[i], i);
  EXPECT_EQ(ran.result->counters.barriers, 3u);
}

TEST(Barrier, DeadlockNamesTheLines) {
  const Ran ran = run_text(R"(ISETP.GE.AND P0, PT, R0, 0x20, PT
@P0 BRA `(other)
BAR.SYNC 0x1
EXIT
other:
BAR.SYNC 0x2
EXIT)",
                           64);
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_EQ(ran.result.error().stage, Stage::deadline);
  EXPECT_EQ(ran.result.error().kind, FailureKind::deadlock);
  EXPECT_THAT(ran.result.error().message, HasSubstr("k deadlocks in CTA (0, 0, 0)"));
  EXPECT_THAT(ran.result.error().message, HasSubstr("warp 0 waits for BAR at k.cu:6"));
  EXPECT_THAT(ran.result.error().message, HasSubstr("warp 1 waits for BAR at k.cu:9"));
}

TEST(Endless, IsReportedByItsLines) {
  RunOptions options;
  options.step_budget = 100000;
  const Ran ran = run_text(R"(MOV R3, RZ
again:
IADD3 R3, R3, 0x1, RZ
NOP
BRA `(again)
EXIT)",
                           32, options);
  ASSERT_FALSE(ran.result.has_value());
  EXPECT_EQ(ran.result.error().stage, Stage::deadline);
  EXPECT_EQ(ran.result.error().kind, FailureKind::other);
  EXPECT_THAT(ran.result.error().message, HasSubstr("k does not end: warp 0 of CTA (0, 0, 0)"));
  EXPECT_THAT(ran.result.error().message, HasSubstr("loops at k.cu:6-8"));
}

// A CTA that waits for another one needs it to run.
TEST(Endless, ALoadOfGlobalMemoryMayWaitForAnotherCta) {
  const auto hint_of = [](const std::string& load, uint32_t ctas) {
    RunOptions options;
    options.step_budget = 100000;
    std::vector<uint32_t> out(32);
    GlobalMemory memory;
    Launch launch;
    launch.program = program_of("MOV R4, c[0x0][0x160]\nMOV R5, c[0x0][0x164]\nagain:\n" + load +
                                    "\nISETP.EQ.AND P0, PT, R3, RZ, PT\n@P0 BRA `(again)\nEXIT",
                                {.parameter_bytes = 8});
    launch.grid = {ctas, 1, 1};
    launch.block = {32, 1, 1};
    launch.parameters = Parameters().pointer(memory.add("out", bytes_of(out), true)).bytes();
    launch.memory = &memory;
    const auto result = run(launch, options);
    EXPECT_FALSE(result.has_value());
    return result ? "" : result.error().hint;
  };
  const auto names_it = HasSubstr("\"cooperative\": true in the manifest's launch");
  EXPECT_THAT(hint_of("LDG.E.STRONG.SYS R3, [R4.64]", 2), names_it);
  EXPECT_THAT(hint_of("ATOMG.E.ADD.STRONG.GPU PT, R3, [R4.64], RZ", 2), names_it);
  EXPECT_THAT(hint_of("LDG.E.STRONG.SYS R3, [R4.64]", 1), ::testing::Not(names_it)) << "there is no other CTA";
  EXPECT_THAT(hint_of("LDG.E R3, [R4.64]", 2), ::testing::Not(names_it)) << "another CTA's store need not be seen";
}

TEST(Endless, LanesThatWaitForOthersOfTheirWarpGetThere) {
  // Lanes 1… spin on a flag that lane 0 sets later: time slices let both sides run.
  const Ran ran = run_text(R"(ISETP.NE.AND P0, PT, R0, RZ, PT
@P0 BRA `(spin)
MOV R3, 0x1
STS [RZ], R3
STG.E [R4.64], R3
EXIT
spin:
LDS R3, [RZ]
ISETP.EQ.AND P1, PT, R3, RZ, PT
@P1 BRA `(spin)
STG.E [R4.64], R3
EXIT)",
                           64, {}, {.static_shared_bytes = 128});
  ASSERT_TRUE(ran.result.has_value()) << ran.result.error().message;
  for (uint32_t x : ran.out) EXPECT_EQ(x, 1u);
}

}  // namespace
}  // namespace attnscope::emulator::testing
