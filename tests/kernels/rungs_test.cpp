// Every rung over a spread of configs and problems at every architecture: right where they must be, wrong where they must be,
// and equal output across architectures.
#include <gtest/gtest.h>

#include "bench_of_one.h"

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

std::string problem_name(const std::string& problem) {
  std::string name;
  for (const char c : problem) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

class Right : public testing::TestWithParam<Case> {};

TEST_P(Right, OnEveryArchitecture) {
  Case named = GetParam();
  std::vector<std::byte> first;
  for (const int arch : {89, 80, 90}) {
    named.arch = arch;
    SCOPED_TRACE(text_of(named));
    auto ran = run(named);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, "correct") << ran->verdict.reason;
    EXPECT_LT(ran->verdict.rel_frobenius, 5e-4);
    EXPECT_EQ(ran->outcome.counters->emulated_ctas, ran->outcome.counters->total_ctas);
    if (first.empty()) first = ran->output;
    EXPECT_TRUE(ran->output == first) << "the output differs from sm_89's";
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
  const std::vector<std::vector<std::string>> spread{
      {"NUM_WARPS=1"},
      {"NUM_WARPS=2", "VEC_WIDTH=1"},
      {"NUM_WARPS=8", "VEC_WIDTH=2"},
      {"BLOCK_M=48"},
      {"BLOCK_M=48", "NUM_WARPS=6", "REDUCE_WARP=serial"},
      {"BLOCK_M=16", "NUM_WARPS=8"},
      {"BLOCK_N=32", "SWIZZLE_XOR=1", "REDUCE_WARP=serial"},
      {"BLOCK_M=64", "NUM_WARPS=1", "SHARED=dynamic"},
      {"BLOCK_M=48", "NUM_WARPS=1", "VEC_WIDTH=8"}};
  for (const auto& settings : spread) cases.push_back({"tiled", kRagged, settings});
  for (const char* problem : {kCausal, kTopLeft, kUneven, kMasked, kWide, kWideRagged}) cases.push_back({"scalar", problem, {}});
  const std::vector<std::vector<std::string>> scalar_spread{
      {},
      {"BLOCK_M=16", "ROWS=2", "STAGES=1", "VEC_WIDTH=8"},
      {"BLOCK_M=16", "NUM_WARPS=2", "VEC_WIDTH=2"},
      {"BLOCK_N=32", "VEC_WIDTH=1"},
      {"BLOCK_M=64", "NUM_WARPS=8"},
      {"BLOCK_M=128", "BLOCK_N=32", "NUM_WARPS=8"},
      {"ROWS=8"}};
  for (const auto& settings : scalar_spread) cases.push_back({"scalar", kRagged, settings});
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

TEST(Rungs, ScalarReadsSharedMemoryWithoutConflicts) {
  for (const auto& settings : std::vector<std::vector<std::string>>{{}, {"BLOCK_M=64", "NUM_WARPS=8"}, {"ROWS=8"}}) {
    const Case named{"scalar", kRagged, settings};
    auto ran = run(named);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->outcome.counters->shared_bank_conflicts, 0) << text_of(named);
  }
}

TEST(Rungs, TheMissionShapeIsWithinTheToleranceAtBothLengths) {
  for (const char* problem : {kMission, "B=1,H=8,S=512,D=64,causal=bottom_right", "B=1,H=8,S=333,D=64", "B=1,H=8,S=333,D=64,causal=bottom_right"}) {
    auto ran = run({"tiled", problem, {}});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, "correct") << problem << ": " << ran->verdict.reason;
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

// Over a tile or two the warps may not drift far enough to matter: only lengths of several tiles show it for certain.
TEST(Rungs, M32W6NeverPasses) {
  for (const char* problem : {kMission, kRagged, kUneven}) {
    for (const int arch : {80, 89, 90}) {
      auto ran = run({"tiled", problem, {"NUM_WARPS=6"}, true, arch});
      ASSERT_TRUE(ran) << ran.error().message;
      EXPECT_EQ(ran->verdict.state, "wrong") << text_of({"tiled", problem, {"NUM_WARPS=6"}, true, arch});
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
