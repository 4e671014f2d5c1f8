#include "catalog/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CompleteConfig, FillsInTheDefaults) {
  const Kernel tiled = shipped("02_tiled");
  const Config config = config_of(tiled, {{"NUM_WARPS", 8}});
  EXPECT_EQ(
      short_text(config, tiled),
      "BLOCK_M=32 BLOCK_N=64 NUM_WARPS=8 VEC_WIDTH=4 SYNC_POLICY=cta SWIZZLE_XOR=0 REDUCE_WARP=warp SHARED=static "
      "SO_TYPE=f32");
  EXPECT_TRUE(config.options.fast_math);
}

TEST(CompleteConfig, RefusesUnknownKnobsAndValues) {
  const Kernel tiled = shipped("02_tiled");
  auto unknown = complete_config(tiled, {{"WARPS", 8}}, {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().stage, Stage::input);
  EXPECT_THAT(unknown.error().message, HasSubstr("WARPS"));
  EXPECT_THAT(unknown.error().hint, HasSubstr("NUM_WARPS"));
  auto outside = complete_config(tiled, {{"NUM_WARPS", 3}}, {});
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, AllOf(HasSubstr("NUM_WARPS"), HasSubstr("3")));
  EXPECT_THAT(outside.error().hint, HasSubstr("1, 2, 4, 6, 8"));
  CompileOptions options;
  options.maxrregcount = 256;
  EXPECT_FALSE(complete_config(tiled, {}, options));
}

TEST(ParseSetting, TakesNumbersAndLabels) {
  const Kernel tiled = shipped("02_tiled");
  EXPECT_EQ(parse_setting(tiled, "NUM_WARPS=8"), (std::pair<std::string, int64_t>{"NUM_WARPS", 8}));
  EXPECT_EQ(parse_setting(tiled, "SHARED=dynamic")->second, 1);
  EXPECT_EQ(parse_setting(tiled, "SHARED=1")->second, 1);
}

TEST(ParseSetting, NothingElseReachesTheCompiler) {
  const Kernel tiled = shipped("02_tiled");
  for (const char* text : {"BLOCK_M=32 -DX", "BLOCK_M=", "BLOCK_M", "=32", "", "BLOCK_M=32;", "BLOCK_M= 32",
                           "BLOCK_M=0x20", "BLOCK_M=32.0", "BLOCK_M=1e1", "BLOCK_M=99999999999999999999", "block_m=32",
                           "HEAD_DIM=64", "SHARED=Dynamic", "BLOCK_M=+32"}) {
    auto setting = parse_setting(tiled, text);
    ASSERT_FALSE(setting) << text;
    EXPECT_EQ(setting.error().stage, Stage::input);
  }
  EXPECT_THAT(parse_setting(tiled, "BLOCK_M=32 -DX").error().message, AllOf(HasSubstr("BLOCK_M"), HasSubstr("32 -DX")));
}

TEST(Restrictions, EachOneGivesItsReason) {
  const Kernel tiled = shipped("02_tiled");
  const Config config = config_of(tiled, {});
  EXPECT_TRUE(check_restrictions(tiled, {}, config, 80));
  auto refused = [&](auto change) {
    Problem problem;
    change(problem);
    auto taken = check_restrictions(tiled, problem, config, 89);
    return taken ? std::string() : taken.error().message;
  };
  EXPECT_THAT(refused([](Problem& p) { p.head_dim = 96; }),
              AllOf(HasSubstr("head_dim"), HasSubstr("64, 128"), HasSubstr("96")));
  EXPECT_THAT(refused([](Problem& p) { p.dtype = DType::bf16; }), HasSubstr("bf16"));
  EXPECT_THAT(refused([](Problem& p) { p.kv_heads = 2; }), HasSubstr("kv_heads"));
  EXPECT_THAT(refused([](Problem& p) { p.layout = Layout::BSHD; }), HasSubstr("BSHD"));
  EXPECT_THAT(refused([](Problem& p) { p.kind = ProblemKind::gemm; }), HasSubstr("gemm"));
  EXPECT_THAT(refused([](Problem& p) { p.causal = Causal::top_left; }), IsEmpty());
  EXPECT_THAT(check_restrictions(tiled, {}, config, 70).error().message, HasSubstr("sm_75"));
}

TEST(Restrictions, ARequirementThatFailsSaysWhy) {
  Json manifest = good_manifest();
  manifest["requires"] = {{{"expr", "seq_k % TILE == 0"}, {"why", "whole tiles only"}}};
  const Kernel kernel = *parse(manifest);
  Problem problem;
  problem.seq_k = 500;
  auto taken = check_restrictions(kernel, problem, config_of(kernel, {}));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().stage, Stage::input);
  EXPECT_THAT(taken.error().message, AllOf(HasSubstr("TILE=16"), HasSubstr("whole tiles only")));
}

TEST(KnobValues, ALabelAndItsNumberAreTakenAndNamed) {
  const Kernel tiled = shipped("02_tiled");
  const Knob& barrier = *tiled.find_knob("SYNC_POLICY");
  for (const auto& [label, number] : {std::pair{"none", 0}, {"warp", 2}, {"cta", 5}}) {
    EXPECT_EQ(knob_value(tiled, barrier, label), number);
    EXPECT_EQ(knob_value(tiled, barrier, std::to_string(number)), number);
  }
  const auto refused = parse_setting(tiled, "SYNC_POLICY=3");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().hint, "SYNC_POLICY takes none (0), warp (2), cta (5).");
  EXPECT_EQ(parse_setting(tiled, "NUM_WARPS=3").error().hint, "NUM_WARPS takes 1, 2, 4, 6, 8.");
}

TEST(Warnings, UnevenWarpsAndTheLightBarrier) {
  const Kernel tiled = shipped("02_tiled");
  EXPECT_THAT(*warnings(tiled, {}, config_of(tiled, {})), IsEmpty());
  EXPECT_THAT(*warnings(tiled, {}, config_of(tiled, {{"NUM_WARPS", 6}})),
              ElementsAre(HasSubstr("barrier in the row loop")));
  EXPECT_THAT(*warnings(tiled, {}, config_of(tiled, {{"NUM_WARPS", 6}, {"BLOCK_M", 48}})), IsEmpty());
  EXPECT_THAT(*warnings(tiled, {}, config_of(tiled, {{"SYNC_POLICY", 2}})), ElementsAre(HasSubstr("race")));
}

}  // namespace
}  // namespace attnscope::catalog
