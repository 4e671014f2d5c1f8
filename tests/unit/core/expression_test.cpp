#include "core/expression.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace {

const Variables kVariables{{"BLOCK_M", 48}, {"seq_q", 333}, {"NUM_WARPS", 6}};

TEST(Expression, KnowsRemainderAndCeilDiv) {
  EXPECT_EQ(evaluate("seq_q % BLOCK_M", kVariables, "k.json/x"), 333 % 48);
  EXPECT_EQ(evaluate("ceil_div(seq_q, BLOCK_M)", kVariables, "k.json/x"), 7);
  EXPECT_EQ(evaluate("bit_xor(12, 4 * (11 % 8))", kVariables, "k.json/x"), 0);
  EXPECT_EQ(evaluate("bit_xor(9, 4) + 1", kVariables, "k.json/x"), 14);
  EXPECT_FALSE(evaluate("bit_xor(1, 0 - 1)", kVariables, "k.json/x"));
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
                    BadExpression{"9007199254740993 * 4", "not exact"},
                    BadExpression{"4 * 9007199254740991", "outside 0…2^53"},
                    BadExpression{"9007199254740992 + 1", "outside 0…2^53"},
                    BadExpression{"sqrt(seq_q)", "cannot be evaluated"},
                    BadExpression{"sum(1, 2)", "cannot be evaluated"}, BadExpression{"abs(3)", "cannot be evaluated"},
                    BadExpression{"_pi * 0", "cannot be evaluated"}, BadExpression{"2 ^ 3", "no expression knows"},
                    BadExpression{"\"a\"", "no expression knows"}, BadExpression{"seq_q é", "no expression knows"},
                    BadExpression{"BLOCK_N", "cannot be evaluated"}, BadExpression{"BLOCK_M = 3", "assigns"},
                    BadExpression{"1, 2", "more than one"}, BadExpression{"(1, 2)", "cannot be evaluated"},
                    BadExpression{"", "cannot be evaluated"}, BadExpression{"ceil_div(3)", "cannot be evaluated"}));

// An intermediate value of 2^53 + 1 would be taken for 2^53; the result is small in each of these.
TEST(Expression, AStepThatIsNotExactIsRefused) {
  const Variables large{{"n", 9007199254740991.0}, {"one", 1}, {"zero", 0}};
  for (const char* text : {"n + 1 + 1 - n", "(n + 1 + 1) % 2", "n + 2 > n + 1", "min(n + 2, 7)", "0 * (n + 2)",
                           "n * 3 % 10", "(-n - 2) + n + 2", "ceil_div(n + 2, n)", "(n + 2) / 9007199254740992",
                           "one ? (n + 2) % 2 : 1", "9007199254740992 + 1 - 9007199254740992", "n * 8 / 8 - n"}) {
    for (int time = 0; time < 2; ++time) {  // parsed, then known
      const auto value = evaluate(text, large, "k.json/launch/grid/0");
      ASSERT_FALSE(value) << text;
      EXPECT_NE(value.error().message.find("k.json/launch/grid/0"), std::string::npos);
      EXPECT_NE(value.error().message.find("passes 2^53 on the way"), std::string::npos) << value.error().message;
    }
  }
  // The branch of ?: that is not taken is not computed, and leaves no flag behind.
  EXPECT_EQ(evaluate("zero ? (n + 2) % 2 : 1", large, "x"), 1);
  EXPECT_EQ(evaluate("n - 1 + 1 - n", large, "x"), 0);
  EXPECT_EQ(evaluate("-n + n - -3", large, "x"), 3);
}

TEST(Expression, CeilDivIsExactUpToTheLargestNumber) {
  const Variables large{{"n", 9007199254740991.0}, {"m", 6004799503160661.0}};
  EXPECT_EQ(evaluate("ceil_div(n, m)", large, "x"), 2);
  EXPECT_EQ(evaluate("ceil_div(n, 2)", large, "x"), 4503599627370496);
  EXPECT_EQ(evaluate("ceil_div(9007199254740990, 67108859)", large, "x"), 134217739);
  EXPECT_EQ(evaluate("ceil_div(7 - 14, 2) + 10", large, "x"), 7);
  EXPECT_EQ(evaluate("ceil_div(7 - 14, 0 - 2)", large, "x"), 4);
}

TEST(Expression, OperatorsBindAsInC) {
  EXPECT_EQ(evaluate("1 + 2 * 3 - 8 / 4 - 1", {}, "x"), 4);
  EXPECT_EQ(evaluate("1 + 1 == 2 && 3 < 4 || 0", {}, "x"), 1);
  EXPECT_EQ(evaluate("1 || 0 && 0", {}, "x"), 1);
  EXPECT_EQ(evaluate("2 <= 2 && 3 >= 4", {}, "x"), 0);
  EXPECT_EQ(evaluate("3 > 2 ? 5 : 6", {}, "x"), 5);
  EXPECT_EQ(evaluate("5 != 5 ? 1 : 4 > 3 ? 2 : 3", {}, "x"), 2);
  EXPECT_EQ(evaluate("2*-3+7", {}, "x"), 1);
}

TEST(Expression, IsRefusedAsOftenAsItIsAsked) {
  for (int time = 0; time < 3; ++time) {
    const auto value = evaluate("(BLOCK_M+", kVariables, "x");
    ASSERT_FALSE(value);
    EXPECT_NE(value.error().message.find("cannot be evaluated"), std::string::npos);
  }
}

TEST(Expression, AZeroByteEndsNoName) {
  const auto value = evaluate(std::string("seq_q\0 + nonsense", 17), kVariables, "x");
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("the byte 0x00"), std::string::npos) << value.error().message;
}

TEST(Expression, TheLargestExactNumberIsTaken) {
  EXPECT_EQ(evaluate("9007199254740991", kVariables, "x"), 9007199254740991);
  EXPECT_EQ(evaluate("BLOCK_M1 - 99999999999999999", {{"BLOCK_M1", 1}}, "x").has_value(), false);
  EXPECT_EQ(evaluate("B9999999999999999999", {{"B9999999999999999999", 3}}, "x"), 3);
}

// The functions are exactly those that docs/writing-a-kernel.md names.
TEST(Expression, OfElementsKnowsWhatIsDocumented) {
  for (const char* name : {"sqrt", "exp", "ln", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
                           "cosh", "tanh", "abs", "sign", "rint", "erf"}) {
    auto parsed = ElementExpression::parse(std::string(name) + "(x)", {"x"}, "x");
    ASSERT_TRUE(parsed) << name;
    EXPECT_TRUE(std::isfinite((*parsed)(std::vector<double>{0.5}))) << name;
  }
  for (const char* text : {"sum(x, x)", "avg(x, x)", "atan2(x, x)", "acosh(x)", "log(x)", "x ^ 2", "_pi", "_e"})
    EXPECT_FALSE(ElementExpression::parse(text, {"x"}, "x")) << text;
  EXPECT_FALSE(ElementExpression::parse(std::string("x\0y", 3), {"x"}, "x"));
  EXPECT_FALSE(ElementExpression::parse("x + " + std::string(1000, ' ') + "x", {"x"}, "x"));
}

TEST(Expression, OfElementsTakesItsValuesInTheOrderOfItsNames) {
  auto parsed = ElementExpression::parse("b - 2 * a", {"b", "a"}, "x");
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)(std::vector<double>{10, 3}), 4);
  EXPECT_EQ((*parsed)(std::vector<double>{1, 0}), 1);
  auto sign = ElementExpression::parse("sign(x)", {"x"}, "x");
  ASSERT_TRUE(sign);
  EXPECT_EQ((*sign)(std::vector<double>{-0.5}), -1);
  EXPECT_EQ((*sign)(std::vector<double>{0}), 0);
  EXPECT_EQ((*sign)(std::vector<double>{7}), 1);
}

TEST(Expression, IsShownShortened) {
  const std::string longest(1000, '('), shown(200, '(');
  EXPECT_NE(evaluate(longest, {}, "x").error().message.find("x: \"" + shown + "…\" cannot"), std::string::npos);
  EXPECT_NE(evaluate(longest + " ", {}, "x").error().message.find("longer than 1,000 bytes"), std::string::npos);
  EXPECT_NE(evaluate(shown, {}, "x").error().message.find("x: \"" + shown + "\" cannot"), std::string::npos);
}

TEST(Expression, HoldsReadsNonZeroAsTrue) {
  EXPECT_EQ(holds("BLOCK_M % 16 == 0", kVariables, "x"), true);
  EXPECT_EQ(holds("BLOCK_M % 32 == 0", kVariables, "x"), false);
}

}  // namespace
}  // namespace attnscope
