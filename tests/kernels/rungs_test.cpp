// Every rung over a spread of configs and problems on every architecture: correct or wrong as expected, and equal
// output across architectures.
#include <gtest/gtest.h>

#include "bench_of_one.h"
#include "emulator/emulator.h"

namespace attnscope::kernel_tests {
namespace {

constexpr const char* kMission = "B=1,H=8,S=512,D=64";
constexpr const char* kRagged = "B=1,H=2,S=333,D=64";
constexpr const char* kCausal = "B=2,H=2,S=130,D=64,causal=bottom_right";
constexpr const char* kTopLeft = "B=1,H=2,seq_q=96,seq_k=130,D=64,causal=top_left";
constexpr const char* kUneven = "B=1,H=2,seq_q=100,seq_k=211,D=64,causal=bottom_right";
constexpr const char* kMasked = "B=1,H=2,seq_q=150,seq_k=70,D=64,causal=bottom_right";
constexpr const char* kWide = "B=1,H=2,S=130,D=128,causal=bottom_right";
constexpr const char* kWideRagged = "B=1,H=2,S=77,D=128";

constexpr const char* kOneRow = "B=2,H=2,seq_q=1,seq_k=300,D=64,causal=bottom_right";
constexpr const char* kGrouped = "B=1,heads=4,kv_heads=2,S=100,D=64,causal=bottom_right";
constexpr const char* kBf16 = "B=1,H=2,S=100,D=64,dtype=bf16";
constexpr const char* k96 = "B=1,H=2,S=100,D=96,causal=bottom_right";

std::string problem_name(const std::string& problem) {
  std::string name;
  for (const char c : problem) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

class Right : public testing::TestWithParam<Case> {};

// sm_90's Tensor Cores add sixteen products at once where older ones add eight (docs/emulator.md): the last bits may
// differ.
bool adds_as_sm89(const Ran& ran, int arch) {
  const auto tensor = static_cast<size_t>(emulator::InstructionClass::tensor);
  return arch < 90 || ran.outcome.emulated->result.counters.by_class[tensor] == 0;
}

TEST_P(Right, OnEveryArchitecture) {
  Case named = GetParam();
  std::vector<std::byte> first;
  for (const int arch : {89, 80, 90}) {
    named.arch = arch;
    SCOPED_TRACE(text_of(named));
    auto ran = run(named);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, VerdictState::correct) << ran->verdict.reason;
    if (ran->problem.dtype == DType::f16) {
      EXPECT_LT(ran->verdict.rel_frobenius, 5e-4);
    }
    EXPECT_EQ(ran->outcome.counters->emulated_ctas, ran->outcome.counters->total_ctas);
    if (first.empty()) first = ran->output;
    if (adds_as_sm89(*ran, arch)) {
      EXPECT_TRUE(ran->output == first) << "the output differs from sm_89's";
    }
  }
}

std::vector<Case> right_cases() {
  std::vector<Case> cases;
  for (const char* problem : {kRagged, kCausal, kTopLeft, kUneven, kMasked, kWide, kWideRagged}) {
    cases.push_back({"minimal", problem, {}});
    cases.push_back({"tiled", problem, {"BLOCK_M=16", "BLOCK_N=32"}});
    cases.push_back({"tiled", problem, {"SHARED=dynamic"}});
    cases.push_back({"tiled", problem, {"BLOCK_M=64", "SHARED=dynamic", "NUM_WARPS=8", "SWIZZLE_XOR=1"}});
  }
  const std::vector<std::vector<std::string>> spread{{"NUM_WARPS=1"},
                                                     {"NUM_WARPS=2", "VEC_WIDTH=1"},
                                                     {"NUM_WARPS=8", "VEC_WIDTH=2"},
                                                     {"BLOCK_M=48"},
                                                     {"BLOCK_M=48", "NUM_WARPS=6", "REDUCE_WARP=serial"},
                                                     {"BLOCK_M=16", "NUM_WARPS=8"},
                                                     {"BLOCK_N=32", "SWIZZLE_XOR=1", "REDUCE_WARP=serial"},
                                                     {"BLOCK_M=64", "NUM_WARPS=1", "SHARED=dynamic"},
                                                     {"BLOCK_M=48", "NUM_WARPS=1", "VEC_WIDTH=8"}};
  for (const auto& settings : spread) cases.push_back({"tiled", kRagged, settings});
  for (const char* problem : {kCausal, kTopLeft, kUneven, kMasked, kWide, kWideRagged})
    cases.push_back({"scalar", problem, {}});
  const std::vector<std::vector<std::string>> scalar_spread{{},
                                                            {"BLOCK_M=16", "ROWS=2", "STAGES=1", "VEC_WIDTH=8"},
                                                            {"BLOCK_M=16", "NUM_WARPS=2", "VEC_WIDTH=2"},
                                                            {"BLOCK_N=32", "VEC_WIDTH=1"},
                                                            {"BLOCK_M=64", "NUM_WARPS=8"},
                                                            {"BLOCK_M=128", "BLOCK_N=32", "NUM_WARPS=8"},
                                                            {"ROWS=8"}};
  for (const auto& settings : scalar_spread) cases.push_back({"scalar", kRagged, settings});
  for (const char* problem : {kCausal, kTopLeft, kUneven, kMasked, kWide, kWideRagged, kOneRow, kGrouped, kBf16, k96})
    cases.push_back({"mma", problem, {}});
  const std::vector<std::vector<std::string>> mma_spread{
      {},
      {"BLOCK_M=16", "BLOCK_N=16", "NUM_WARPS=1", "SPLIT_KEYS=1", "STAGES=3"},
      {"BLOCK_N=64", "NUM_WARPS=8", "SPLIT_KEYS=4", "STAGES=1"},
      {"BLOCK_M=16", "BLOCK_N=16", "NUM_WARPS=8", "SPLIT_KEYS=8", "SWIZZLE_XOR=0"},
      {"BLOCK_M=128", "BLOCK_N=128", "SPLIT_KEYS=1", "STAGES=1", "Q_REGS=0"},
      {"BLOCK_M=64", "BLOCK_N=64", "SPLIT_KEYS=1", "STAGES=3"},
      {"BLOCK_M=256", "NUM_WARPS=8", "SPLIT_KEYS=1", "Q_REGS=0"}};
  for (const auto& settings : mma_spread) cases.push_back({"mma", kRagged, settings});
  cases.push_back({"mma", kUneven, {"BLOCK_N=64", "NUM_WARPS=8", "SPLIT_KEYS=4", "STAGES=1"}});
  cases.push_back({"mma", kWide, {"BLOCK_M=128", "BLOCK_N=64", "SPLIT_KEYS=1", "Q_REGS=0"}});
  cases.push_back({"tiled", kUneven, {}, false});
  cases.push_back({"minimal", kUneven, {"THREADS=64"}, false});
  cases.push_back({"minimal", kRagged, {"THREADS=256"}});
  std::vector<Case> strided;
  for (size_t i = 0; i < cases.size(); i += ATTNSCOPE_CASE_STRIDE) strided.push_back(cases[i]);
  return strided;
}

std::string name_of(const testing::TestParamInfo<Case>& one) {
  return std::to_string(one.index) + "_" + one.param.kernel + "_" + problem_name(one.param.problem);
}

INSTANTIATE_TEST_SUITE_P(Spread, Right, testing::ValuesIn(right_cases()), name_of);

// Positions of NaN and Inf are those of a plain fp32 attention: a row whose scores are all -infinity is NaN, not 0.
TEST(Rungs, SpecialValuesStayWhereTheyBelong) {
  const std::vector<std::string> split{"BLOCK_N=64", "NUM_WARPS=8", "SPLIT_KEYS=4", "STAGES=1"};
  const std::vector<std::pair<const char*, std::vector<std::string>>> rungs{
      {"minimal", {}}, {"tiled", {}}, {"scalar", {}}, {"mma", {}}, {"mma", split}};
  for (const char* problem : {"B=1,H=1,S=80,D=64", "B=1,H=1,S=80,D=64,causal=bottom_right"})
    for (const auto& [kernel, settings] : rungs) {
      const Case named{kernel, problem, settings, true, 89, "kernels", true};
      auto ran = run(named);
      ASSERT_TRUE(ran) << ran.error().message;
      EXPECT_EQ(ran->verdict.state, VerdictState::correct) << text_of(named) << ": " << ran->verdict.reason;
    }
}

// Wavefronts above the ideal, only for ldmatrix and cp.async.
uint64_t conflicts_of_the_loop(const Ran& ran) {
  const auto& instructions = emulator::sass_of(*ran.outcome.emulated->program).instructions;
  const auto& counted = ran.outcome.emulated->result.instructions;
  uint64_t conflicts = 0;
  for (size_t i = 0; i < counted.size(); ++i)
    if (instructions[i].opcode == "LDSM" || instructions[i].opcode == "LDGSTS")
      conflicts += counted[i].wavefronts - counted[i].ideal;
  return conflicts;
}

TEST(Rungs, ScalarReadsSharedMemoryWithoutConflicts) {
  for (const auto& settings : std::vector<std::vector<std::string>>{{}, {"BLOCK_M=64", "NUM_WARPS=8"}, {"ROWS=8"}}) {
    const Case named{"scalar", kRagged, settings};
    auto ran = run(named);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->outcome.counters->shared_bank_conflicts, 0) << text_of(named);
  }
}

// The configs of the Tensor Core rung's presets: no spill and no stack, within the L4's 99 KB, no bank conflict in
// ldmatrix and cp.async. (Its few conflicts come from storing O's fragments, once per CTA.)
TEST(Rungs, MmaKeepsEverythingInRegistersAndMeetsNoConflict) {
  const std::vector<Case> shipped{
      {"mma", kMission, {}},
      {"mma", kMission, {"BLOCK_N=64", "NUM_WARPS=8", "SPLIT_KEYS=4", "STAGES=1"}},
      {"mma", "B=4,H=16,S=4096,D=64", {"BLOCK_M=128", "BLOCK_N=128", "SPLIT_KEYS=1", "Q_REGS=0"}},
      {"mma", "B=4,H=16,S=4096,D=64,causal=bottom_right", {"BLOCK_M=128", "BLOCK_N=128", "SPLIT_KEYS=1", "Q_REGS=0"}},
      {"mma", "B=4,H=16,S=4096,D=128", {"BLOCK_M=128", "BLOCK_N=64", "NUM_WARPS=8", "SPLIT_KEYS=1"}},
      {"mma",
       "B=4,H=16,S=4096,D=128,causal=bottom_right",
       {"BLOCK_M=128", "BLOCK_N=64", "NUM_WARPS=8", "SPLIT_KEYS=1"}}};
  for (Case named : shipped) {
    for (const int arch : {80, 89, 90}) {
      named.arch = arch;
      auto variant = compile(named);
      ASSERT_TRUE(variant) << text_of(named) << variant.error().message;
      EXPECT_EQ((*variant)->info.spill_bytes, 0) << text_of(named);
      EXPECT_EQ((*variant)->info.stack_bytes, 0) << text_of(named);
    }
  }
  for (const Case& named : {Case{"mma", kRagged, {}}, Case{"mma", kWideRagged, {}}, Case{"mma", k96, {}}}) {
    auto ran = run(named);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(conflicts_of_the_loop(*ran), 0u) << text_of(named);
  }
  auto unswizzled = run({"mma", kRagged, {"SWIZZLE_XOR=0"}});
  ASSERT_TRUE(unswizzled) << unswizzled.error().message;
  EXPECT_GT(conflicts_of_the_loop(*unswizzled), 0u);
}

TEST(Rungs, TheMissionShapeIsWithinTheToleranceAtBothLengths) {
  for (const char* problem : {kMission, "B=1,H=8,S=512,D=64,causal=bottom_right", "B=1,H=8,S=333,D=64",
                              "B=1,H=8,S=333,D=64,causal=bottom_right"}) {
    auto ran = run({"tiled", problem, {}});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, VerdictState::correct) << problem << ": " << ran->verdict.reason;
    EXPECT_LT(ran->verdict.rel_frobenius, 5e-4) << problem;
  }
}

TEST(Rungs, SharedMemoryIsTheReportsToTheByte) {
  const std::vector<std::pair<std::vector<std::string>, int64_t>> figures{
      {{"NUM_WARPS=8"}, 36928}, {{"NUM_WARPS=4"}, 36896}, {{"BLOCK_M=48", "NUM_WARPS=4"}, 47136}};
  for (const auto& [settings, bytes] : figures) {
    auto variant = compile({"tiled", kMission, settings});
    ASSERT_TRUE(variant) << variant.error().message;
    EXPECT_EQ((*variant)->info.static_shared_bytes, bytes);
    int64_t sum = 0;
    for (const SharedBuffer& buffer : (*variant)->info.shared_buffers) sum += buffer.bytes;
    EXPECT_EQ(sum, bytes);
  }
}

TEST(Rungs, M64StaticIsRefusedWithBothFigures) {
  auto variant = compile({"tiled", kMission, {"BLOCK_M=64"}});
  ASSERT_FALSE(variant);
  EXPECT_EQ(variant.error().stage, Stage::limits);
  const std::string text = variant.error().message + variant.error().hint;
  for (const char* figure : {"57,376", "49,152", "dynamic"}) EXPECT_NE(text.find(figure), std::string::npos) << text;
}

TEST(Rungs, M64FitsInHalvesAndItsErrorGrows) {
  for (const char* problem : {kRagged, kMasked}) {
    std::vector<std::byte> first;
    auto floats = run({"tiled", problem, {"BLOCK_M=64", "SHARED=dynamic"}});
    ASSERT_TRUE(floats) << floats.error().message;
    for (const int arch : {89, 80, 90}) {
      auto halves = run({"tiled", problem, {"BLOCK_M=64", "SO_TYPE=f16"}, true, arch});
      ASSERT_TRUE(halves) << halves.error().message;
      EXPECT_EQ(halves->variant->info.static_shared_bytes, 40992);
      EXPECT_EQ(halves->verdict.state, VerdictState::correct) << halves->verdict.reason;
      EXPECT_GT(halves->verdict.rel_frobenius, 1.5 * floats->verdict.rel_frobenius) << problem;
      if (first.empty()) first = halves->output;
      EXPECT_TRUE(halves->output == first) << "the output differs from sm_89's";
    }
  }
}

TEST(Rungs, VecWidth4And8AreOneCode) {
  for (const int arch : {80, 89, 90}) {
    auto four = compile({"tiled", kMission, {"VEC_WIDTH=4"}, true, arch});
    auto eight = compile({"tiled", kMission, {"VEC_WIDTH=8"}, true, arch});
    auto two = compile({"tiled", kMission, {"VEC_WIDTH=2"}, true, arch});
    ASSERT_TRUE(four && eight && two);
    EXPECT_EQ((*four)->info.code_hash, (*eight)->info.code_hash);
    EXPECT_NE((*four)->info.code_hash, (*two)->info.code_hash);
  }
}

// Over one or two tiles the warps may not drift far enough to matter: only several tiles show it reliably.
TEST(Rungs, M32W6NeverPasses) {
  for (const char* problem : {kMission, kRagged, kUneven}) {
    for (const int arch : {80, 89, 90}) {
      auto ran = run({"tiled", problem, {"NUM_WARPS=6"}, true, arch});
      ASSERT_TRUE(ran) << ran.error().message;
      EXPECT_EQ(ran->verdict.state, VerdictState::wrong) << text_of({"tiled", problem, {"NUM_WARPS=6"}, true, arch});
    }
  }
}

TEST(Rungs, SwizzlingRemovesTheBankConflictsOfTheScores) {
  auto plain = run({"tiled", kRagged, {}});
  auto swizzled = run({"tiled", kRagged, {"SWIZZLE_XOR=1"}});
  ASSERT_TRUE(plain && swizzled);
  const auto share = [](const Counters& c) { return double(c.shared_bank_conflicts) / double(c.shared_wavefronts); };
  EXPECT_GT(share(*plain->outcome.counters), 0.6);
  EXPECT_LT(share(*swizzled->outcome.counters), 0.5 * share(*plain->outcome.counters));
}

}  // namespace
}  // namespace attnscope::kernel_tests
