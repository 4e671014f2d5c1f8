#include "cli/export_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::cli {
namespace {

const std::map<std::string, int64_t> kConstants{{"BLOCK_M", 64}, {"X2_y", -3}};

TEST(ExportExpression, IsTheSameInBothLanguages) {
  const struct {
    const char *manifest, *cpp, *python;
  } kExpressions[] = {{"seq_q", "seq_q", "seq_q"},
                      {" 12 ", "12", "12"},
                      {"BLOCK_M", "64", "64"},
                      {"X2_y+1", "(-3 + 1)", "(-3 + 1)"},
                      {"ceil_div(seq_q, BLOCK_M)", "ceil_div(seq_q, 64)", "ceil_div(seq_q, 64)"},
                      {"min(a,b , 3)", "std::min<int64_t>({a, b, 3})", "min(a, b, 3)"},
                      {"max(a, b)", "std::max<int64_t>({a, b})", "max(a, b)"},
                      {"a+b*c", "(a + (b * c))", "(a + (b * c))"},
                      {"a*b+c", "((a * b) + c)", "((a * b) + c)"},
                      {"(a+b)*c", "((a + b) * c)", "((a + b) * c)"},
                      {"a-b-c", "((a - b) - c)", "((a - b) - c)"},
                      {"a/b%c", "((a / b) % c)", "((a // b) % c)"},
                      {"a||b&&c", "(a || (b && c))", "(a or (b and c))"},
                      {"a&&b||c", "((a && b) || c)", "((a and b) or c)"},
                      {"a<b", "(a < b)", "(a < b)"},
                      {"a<=b", "(a <= b)", "(a <= b)"},
                      {"a>b", "(a > b)", "(a > b)"},
                      {"a>=b", "(a >= b)", "(a >= b)"},
                      {"a==b", "(a == b)", "(a == b)"},
                      {"a!=b", "(a != b)", "(a != b)"},
                      {"a+1<b&&c", "(((a + 1) < b) && c)", "(((a + 1) < b) and c)"},
                      {"!a", "(!a)", "(not a)"},
                      {"-a*-b", "((-a) * (-b))", "((-a) * (-b))"},
                      {"+a", "a", "a"},
                      {"a?b:c", "(a ? b : c)", "(b if a else c)"},
                      {"a ? b : c ? d : e", "(a ? b : (c ? d : e))", "(b if a else (d if c else e))"}};
  for (const auto& one : kExpressions) {
    EXPECT_EQ(expression_in(Language::cpp, one.manifest, kConstants).value_or("refused"), one.cpp);
    EXPECT_EQ(expression_in(Language::python, one.manifest, kConstants).value_or("refused"), one.python);
  }
}

TEST(ExportExpression, WhatIsNoneIsRefusedWhereItEnds) {
  const std::pair<const char*, int> kTexts[] = {{"", 1},      {"a +", 4},    {"a b", 3}, {"a ? b", 6},   {"(a", 3},
                                                {"min(a", 6}, {"min(a,", 7}, {"a)", 2},  {"sqrt(a)", 8}, {"a $ b", 3}};
  for (const auto& [text, character] : kTexts) {
    const auto refused = expression_in(Language::cpp, text, {});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().stage, Stage::internal);
    EXPECT_EQ(refused.error().message,
              '"' + std::string(text) + "\" is not an expression at character " + std::to_string(character));
  }
}

TEST(ExportExpression, ItsLengthIsBound) {
  const auto sum = [](int operands) {
    std::string text = "a";
    for (int i = 1; i < operands; ++i) text += "+a";
    return expression_in(Language::cpp, text, {});
  };
  EXPECT_TRUE(sum(200));
  EXPECT_FALSE(sum(201));
  EXPECT_FALSE(expression_in(Language::cpp, std::string(100'000, '('), {}));
}

}  // namespace
}  // namespace attnscope::cli
