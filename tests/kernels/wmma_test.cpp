// The WMMA rung: each knob's values over lengths, masks and head sizes, spread over the architectures.
#include <gtest/gtest.h>

#include "bench_of_one.h"

namespace attnscope::kernel_tests {
namespace {

struct Spread {
  int arch;
  std::vector<std::string> settings;
  std::vector<const char*> problems;  // of one head_dim and one mask: one compilation
};

const std::vector<const char*> kLengths{"B=1,H=1,S=1,D=64", "B=1,H=1,S=17,D=64", "B=1,H=1,S=64,D=64",
                                        "B=1,H=1,S=333,D=64", "B=1,H=1,S=512,D=64"};
const std::vector<const char*> kCausal{"B=2,heads=2,kv_heads=1,S=130,D=64,causal=bottom_right",
                                       "B=1,H=1,seq_q=100,seq_k=211,D=64,causal=bottom_right",
                                       "B=1,H=1,seq_q=150,seq_k=70,D=64,causal=bottom_right"};
const std::vector<const char*> kTopLeft{"B=1,H=2,seq_q=96,seq_k=130,D=64,causal=top_left"};
const std::vector<const char*> kWide{"B=1,H=1,S=77,D=128", "B=1,H=2,S=130,D=128"};

class Wmma : public testing::TestWithParam<Spread> {};

TEST_P(Wmma, IsRight) {
  for (const char* problem : GetParam().problems) {
    const Case named{"wmma", problem, GetParam().settings, true, GetParam().arch};
    SCOPED_TRACE(text_of(named));
    auto ran = run(named);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, VerdictState::correct) << ran->verdict.reason;
    EXPECT_EQ(ran->verdict.rows_checked, ran->verdict.rows_total);
    EXPECT_EQ(ran->variant->info.spill_bytes, 0);
  }
}

std::vector<Spread> spread() {
  std::vector<Spread> all{
      {89, {}, kLengths},
      {80, {}, kLengths},
      {90, {}, kLengths},
      {80, {"BLOCK_M=32", "BLOCK_N=64", "NUM_WARPS=2", "STAGES=1"}, kCausal},
      {90, {"BLOCK_M=96", "NUM_WARPS=6", "TENSOR_OPS=qk"}, kTopLeft},
      {89, {"BLOCK_M=128", "WMMA_SHAPE=32x8x16", "PAD=16"}, kCausal},
      {80, {"BLOCK_M=32", "NUM_WARPS=4", "WMMA_SHAPE=8x32x16", "TENSOR_OPS=qk", "PAD=0"}, kLengths},
      {90, {"WMMA_SHAPE=8x32x16", "BLOCK_N=64"}, kWide},
      {89, {"NUM_WARPS=4", "BLOCK_N=64", "TENSOR_OPS=qk"}, kWide},
      {89, {"ACCUMULATE=f16"}, kLengths},
      {80, {"ACCUMULATE=f16", "WMMA_SHAPE=32x8x16", "BLOCK_M=128", "PAD=16"}, kCausal},
  };
  std::vector<Spread> strided;
  for (size_t i = 0; i < all.size(); i += ATTNSCOPE_CASE_STRIDE) strided.push_back(all[i]);
  return strided;
}

INSTANTIATE_TEST_SUITE_P(Spread, Wmma, testing::ValuesIn(spread()), [](const auto& one) {
  return std::to_string(one.index) + "_sm_" + std::to_string(one.param.arch);
});

// The output is judged by the tolerance of its accumulator type: fp32's would call it wrong.
TEST(WmmaRung, SumsOfHalvesAreJudgedAsSuch) {
  for (const auto& [type, limit] : {std::pair{"f32", 1e-3}, std::pair{"f16", 1e-2}}) {
    auto ran = run({"wmma", "B=1,H=1,S=512,D=64", {std::string("ACCUMULATE=") + type}});
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, VerdictState::correct) << ran->verdict.reason;
    EXPECT_EQ(ran->verdict.atol, limit);
  }
}

TEST(WmmaRung, RefusesWhatWmmaDoesNotLoad) {
  auto ran = run({"wmma", "B=1,H=1,S=64,D=64", {"PAD=4"}});
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message.find("multiple of 16 bytes"), std::string::npos) << ran.error().message;
}

// Positions of NaN and Inf are those of a simple fp32 attention; one row has only scores of -infinity.
TEST(WmmaRung, SpecialValuesStayWhereTheyBelong) {
  for (const char* problem :
       {"B=1,H=1,S=40,D=64", "B=1,H=1,S=40,D=64,causal=bottom_right", "B=1,H=1,S=64,D=64,distribution=large"}) {
    const Case named{"wmma", problem, {}, true, 89, "kernels", std::string(problem).find("large") == std::string::npos};
    auto ran = run(named);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->verdict.state, VerdictState::correct) << text_of(named) << ": " << ran->verdict.reason;
  }
}

TEST(WmmaRung, PaddingTakesTheConflictsAway) {
  auto padded = run({"wmma", "B=1,H=1,S=333,D=64", {}}), plain = run({"wmma", "B=1,H=1,S=333,D=64", {"PAD=0"}});
  ASSERT_TRUE(padded && plain);
  const auto share = [](const Counters& c) { return double(c.shared_bank_conflicts) / double(c.shared_wavefronts); };
  EXPECT_LT(share(*padded->outcome.counters), 0.025);
  EXPECT_GT(share(*plain->outcome.counters), 0.5);
}

}  // namespace
}  // namespace attnscope::kernel_tests
