#include "cli/number_checks.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

namespace attnscope::cli {
namespace {

// Returns what the check says about a text; "" if it accepts it.
std::string said(const CLI::Validator& check, std::string text) { return check(text); }

TEST(NumberChecks, TakeTheNumbersOfTheirRange) {
  for (const char* text : {"1", "0.5", "1e9"}) EXPECT_EQ(said(above_zero(), text), "") << text;
  for (const char* text : {"0", "1", "18446744073709551615"}) EXPECT_EQ(said(zero_or_more(), text), "") << text;
}

TEST(NumberChecks, SayWhatTheyRefuse) {
  EXPECT_EQ(said(above_zero(), "-1"), "\"-1\" is not a number above 0");
  EXPECT_EQ(said(zero_or_more(), "-1"), "\"-1\" is not a number of 0 or more");
  for (const char* text : {"0", "nan", "x", ""}) EXPECT_NE(said(above_zero(), text), "") << text;
  for (const char* text : {"-1e-9", "nan", "x", ""}) EXPECT_NE(said(zero_or_more(), text), "") << text;
}

}  // namespace
}  // namespace attnscope::cli
