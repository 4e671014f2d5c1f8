// The CuTe rung: its two tiles over lengths and masks on every architecture, and what its presets start with.
#include <gtest/gtest.h>

#include "bench_of_one.h"
#include "emulator/emulator.h"

namespace attnscope::kernel_tests {
namespace {

const std::vector<std::string> kSmall{}, kTall{"BLOCK_M=128"}, kDeep{"BLOCK_N=32", "STAGES=3", "NUM_WARPS=2"},
    kPlain{"BLOCK_M=128", "NUM_WARPS=8", "STAGES=1"};

// Lengths below, at and between the tiles'; masks of either corner, more rows than keys and fewer; grouped heads.
const std::vector<const char*> kWhole{"B=1,H=1,S=1,D=64", "B=2,H=2,S=17,D=64", "B=1,H=1,S=64,D=64",
                                      "B=1,H=1,S=333,D=64"};
const std::vector<const char*> kCausal{"B=1,H=1,S=333,D=64,causal=bottom_right",
                                       "B=1,H=1,seq_q=100,seq_k=211,D=64,causal=bottom_right",
                                       "B=1,heads=4,kv_heads=2,seq_q=150,seq_k=70,D=64,causal=bottom_right"};
const std::vector<const char*> kTopLeft{"B=1,H=1,seq_q=100,seq_k=211,D=64,causal=top_left"};

// Of one causal and one architecture, so of one compilation: each takes some two seconds the first time.
struct Spread {
  int arch;
  std::vector<std::string> settings;
  std::vector<const char*> problems;
};

class Cute : public testing::TestWithParam<Spread> {};

TEST_P(Cute, IsRight) {
  for (const char* problem : GetParam().problems) {
    const Case named{"cute", problem, GetParam().settings, true, GetParam().arch};
    auto ran = run(named);
    ASSERT_TRUE(ran) << text_of(named) << ": " << ran.error().message << " " << ran.error().hint;
    EXPECT_EQ(ran->verdict.state, "correct") << text_of(named) << ": " << ran->verdict.reason;
    EXPECT_EQ(ran->verdict.rows_checked, ran->verdict.rows_total);
    EXPECT_EQ(ran->variant->info.spill_bytes + ran->variant->info.stack_bytes, 0) << text_of(named);
  }
}

std::vector<Spread> spread() {
  const std::vector<Spread> all{
      {89, kSmall, kWhole},  {80, kSmall, kWhole},  {90, kSmall, kWhole},  {89, kTall, kWhole},  {89, kSmall, kCausal},
      {80, kSmall, kCausal}, {90, kSmall, kCausal}, {89, kTall, kCausal},  {90, kTall, kCausal}, {89, kDeep, kCausal},
      {80, kTall, kWhole},   {89, kPlain, kWhole},  {89, kSmall, kTopLeft}};
  std::vector<Spread> strided;
  for (size_t i = 0; i < all.size(); i += ATTNSCOPE_CASE_STRIDE) strided.push_back(all[i]);
  return strided;
}

INSTANTIATE_TEST_SUITE_P(Spread, Cute, testing::ValuesIn(spread()), [](const auto& one) {
  return std::to_string(one.index) + "_sm_" + std::to_string(one.param.arch);
});

TEST(CuteRung, IsRightAtTheReportsLengths) {
  for (const char* problem : {"B=1,H=1,S=512,D=64", "B=1,H=1,S=1024,D=64,causal=bottom_right"}) {
    for (const auto& settings : {kSmall, kTall}) {
      auto ran = run({"cute", problem, settings});
      ASSERT_TRUE(ran) << ran.error().message;
      EXPECT_EQ(ran->verdict.state, "correct") << problem << ": " << ran->verdict.reason;
    }
  }
}

TEST(CuteRung, SpecialValuesStayWhereTheyBelong) {
  for (const char* problem : {"B=1,H=1,S=80,D=64", "B=1,H=1,S=80,D=64,causal=bottom_right"}) {
    auto ran = run({"cute", problem, kSmall, true, 89, "kernels", true});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, "correct") << problem << ": " << ran->verdict.reason;
  }
}

TEST(CuteRung, TakesTheSharedMemoryThatTheReportsAllowed) {
  const auto bytes_of = [](const std::vector<std::string>& settings) {
    auto variant = compile({"cute", "B=1,H=8,S=512,D=64", settings});
    return variant ? (*variant)->info.static_shared_bytes : -1;
  };
  EXPECT_EQ(bytes_of(kSmall), 40 * 1024);
  EXPECT_EQ(bytes_of(kTall), 48 * 1024);
}

// Q, K and V by ldmatrix and cp.async: as many wavefronts as the bytes need. O's fragments, 4 bytes a lane and once a
// CTA, go through Q's swizzled place.
TEST(CuteRung, ItsLoopMeetsNoBankConflict) {
  auto ran = run({"cute", "B=1,H=1,S=333,D=64", kSmall});
  ASSERT_TRUE(ran) << ran.error().message;
  const auto& instructions = emulator::sass_of(*ran->outcome.emulated->program).instructions;
  const auto& counted = ran->outcome.emulated->result.instructions;
  uint64_t wavefronts = 0;
  for (size_t i = 0; i < counted.size(); ++i) {
    if (instructions[i].opcode != "LDSM" && instructions[i].opcode != "LDGSTS") continue;
    wavefronts += counted[i].wavefronts;
    EXPECT_EQ(counted[i].wavefronts, counted[i].ideal) << instructions[i].text;
  }
  EXPECT_GT(wavefronts, 0u);
}

}  // namespace
}  // namespace attnscope::kernel_tests
