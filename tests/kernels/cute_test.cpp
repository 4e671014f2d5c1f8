// The CuTe rung: its tiles over lengths and masks on every architecture, and the configs of its presets.
#include <gtest/gtest.h>

#include "bench_of_one.h"
#include "catalog/launch.h"
#include "catalog/validate.h"

namespace attnscope::kernel_tests {
namespace {

const std::vector<std::string> kSmall{}, kTall{"BLOCK_M=128"}, kDeep{"BLOCK_N=32", "STAGES=3", "NUM_WARPS=2"},
    kPlain{"BLOCK_M=128", "NUM_WARPS=8", "STAGES=1"},
    kSplit{"BLOCK_M=32", "NUM_WARPS=8", "SPLIT_KEYS=4"},          // like an H200's best for small problems …
    kWide{"BLOCK_M=128", "BLOCK_N=128", "STAGES=2", "Q_REGS=0"};  // … and for large ones

// Lengths below, at and between the tile sizes; masks of either corner; more rows than keys and fewer; grouped heads.
const std::vector<const char*> kWhole{"B=1,H=1,S=1,D=64", "B=2,H=2,S=17,D=64", "B=1,H=1,S=64,D=64",
                                      "B=1,H=1,S=333,D=64"};
const std::vector<const char*> kCausal{"B=1,H=1,S=333,D=64,causal=bottom_right",
                                       "B=1,H=1,seq_q=100,seq_k=211,D=64,causal=bottom_right",
                                       "B=1,heads=4,kv_heads=2,seq_q=150,seq_k=70,D=64,causal=bottom_right"};
const std::vector<const char*> kTopLeft{"B=1,H=1,seq_q=100,seq_k=211,D=64,causal=top_left"};

// One mask and one architecture, so one compilation: each takes about two seconds the first time.
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
    EXPECT_EQ(ran->verdict.state, VerdictState::correct) << text_of(named) << ": " << ran->verdict.reason;
    EXPECT_EQ(ran->verdict.rows_checked, ran->verdict.rows_total);
    EXPECT_EQ(ran->variant->info.spill_bytes + ran->variant->info.stack_bytes, 0) << text_of(named);
  }
}

std::vector<Spread> spread() {
  const std::vector<Spread> all{
      {89, kSmall, kWhole},  {80, kSmall, kWhole},  {90, kSmall, kWhole},  {89, kTall, kWhole},  {89, kSmall, kCausal},
      {80, kSmall, kCausal}, {90, kSmall, kCausal}, {90, kTall, kCausal},  {89, kDeep, kCausal}, {89, kPlain, kWhole},
      {80, kTall, kWhole},   {89, kSplit, kCausal}, {80, kSplit, kCausal}, {90, kSplit, kWhole}, {90, kWide, kCausal},
      {80, kWide, kWhole},   {89, kSmall, kTopLeft}};
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
      EXPECT_EQ(ran->verdict.state, VerdictState::correct) << problem << ": " << ran->verdict.reason;
    }
  }
}

TEST(CuteRung, SpecialValuesStayWhereTheyBelong) {
  for (const char* problem : {"B=1,H=1,S=80,D=64", "B=1,H=1,S=80,D=64,causal=bottom_right"}) {
    auto ran = run({"cute", problem, kSmall, true, 89, "kernels", true});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, VerdictState::correct) << problem << ": " << ran->verdict.reason;
  }
}

TEST(CuteRung, TakesTheSharedMemoryThatTheReportsAllowed) {
  auto ran = run({"cute", "B=1,H=1,S=64,D=64", kSmall});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->variant->info.static_shared_bytes, 0);
  for (const auto& [rows, bytes] : {std::pair{64, 40 * 1024}, {128, 48 * 1024}}) {
    auto config = catalog::complete_config(ran->kernel, {{"BLOCK_M", rows}}, {});
    ASSERT_TRUE(config) << config.error().message;
    auto launch = catalog::launch_of(ran->kernel, ran->problem, *config);
    ASSERT_TRUE(launch) << launch.error().message;
    EXPECT_EQ(launch->dynamic_shared, bytes);
  }
}

// Q, K and V by ldmatrix and cp.async, O through Q's swizzled tile, the parts of the groups: as many wavefronts as the
// bytes need.
TEST(CuteRung, MeetsNoBankConflict) {
  for (const auto& settings : {kSmall, kSplit}) {
    auto ran = run({"cute", "B=1,H=1,S=333,D=64", settings});
    ASSERT_TRUE(ran) << ran.error().message;
    const auto& counted = ran->outcome.emulated->result.counters;
    EXPECT_GT(counted.shared_wavefronts(), 0u);
    EXPECT_EQ(counted.shared_bank_conflicts, 0u);
  }
}

// What the header claims about layouts: used with care, they cost no instructions.
TEST(CuteRung, ExecutesHardlyMoreThanTheMmaRung) {
  const std::vector<std::string> small{"BLOCK_M=32", "BLOCK_N=64", "NUM_WARPS=8", "SPLIT_KEYS=4"},
      large{"BLOCK_M=128", "BLOCK_N=128", "SPLIT_KEYS=1", "Q_REGS=0"};
  for (const auto& settings : {small, large}) {
    uint64_t executed[2]{};
    for (const int i : {0, 1}) {
      auto ran = run({i == 0 ? "mma" : "cute", "B=1,H=1,S=512,D=64", settings, true, 90});
      ASSERT_TRUE(ran) << ran.error().message;
      executed[i] = ran->outcome.emulated->result.counters.warp_instructions;
    }
    EXPECT_LE(executed[1] * 100, executed[0] * 103);
  }
}

}  // namespace
}  // namespace attnscope::kernel_tests
