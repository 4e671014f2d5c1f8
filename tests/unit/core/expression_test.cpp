#include "core/expression.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

const Variables kVariables{{"BLOCK_M", 48}, {"seq_q", 333}, {"NUM_WARPS", 6}};

TEST(Expression, KnowsRemainderAndCeilDiv) {
  EXPECT_EQ(evaluate("seq_q % BLOCK_M", kVariables, "k.json/x"), 333 % 48);
  EXPECT_EQ(evaluate("ceil_div(seq_q, BLOCK_M)", kVariables, "k.json/x"), 7);
  EXPECT_EQ(evaluate("min(BLOCK_M, 32) + max(1, NUM_WARPS) * 2", kVariables, "k.json/x"), 44);
  EXPECT_EQ(evaluate("BLOCK_M > 32 ? 1 : 0", kVariables, "k.json/x"), 1);
  EXPECT_EQ(evaluate("BLOCK_M == 48 && NUM_WARPS != 4", kVariables, "k.json/x"), 1);
}

TEST(Expression, BindsRemainderAsMultiplication) { EXPECT_EQ(evaluate("1 + 7 % 4 * 2", kVariables, "k.json/x"), 7); }

struct BadExpression {
  const char* text;
  const char* reason;
};
class RefusedExpression : public testing::TestWithParam<BadExpression> {};

TEST_P(RefusedExpression, IsAFailureAtItsPointer) {
  auto result = evaluate(GetParam().text, kVariables, "k.json/launch/grid/0");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().stage, Stage::catalog);
  EXPECT_NE(result.error().message.find("k.json/launch/grid/0"), std::string::npos);
  EXPECT_NE(result.error().message.find(GetParam().reason), std::string::npos) << result.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Each, RefusedExpression,
    testing::Values(BadExpression{"BLOCK_M / 5", "not a whole number"}, BadExpression{"BLOCK_M - 64", "outside 0…2^53"},
                    BadExpression{"BLOCK_M / 0", "divides by zero"}, BadExpression{"BLOCK_M % 0", "divides by zero"},
                    BadExpression{"9007199254740993 * 4", "outside 0…2^53"},
                    BadExpression{"BLOCK_N", "cannot be evaluated"}, BadExpression{"BLOCK_M = 3", "assigns"},
                    BadExpression{"1, 2", "more than one"}, BadExpression{"(1, 2)", "cannot be evaluated"},
                    BadExpression{"", "cannot be evaluated"}, BadExpression{"ceil_div(3)", "cannot be evaluated"}));

TEST(Expression, IsRefusedAsOftenAsItIsAsked) {
  for (int time = 0; time < 3; ++time) {
    const auto value = evaluate("(BLOCK_M+", kVariables, "x");
    ASSERT_FALSE(value);
    EXPECT_NE(value.error().message.find("cannot be evaluated"), std::string::npos);
  }
}

TEST(Expression, HoldsReadsNonZeroAsTrue) {
  EXPECT_EQ(holds("BLOCK_M % 16 == 0", kVariables, "x"), true);
  EXPECT_EQ(holds("BLOCK_M % 32 == 0", kVariables, "x"), false);
}

}  // namespace
}  // namespace attnscope
