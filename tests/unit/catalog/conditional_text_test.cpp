#include "catalog/conditional_text.h"

#include <gtest/gtest.h>

#include <string>

namespace attnscope::catalog {
namespace {

std::string kept(const std::string& source) {
  const std::map<std::string, std::string> macros{{"ON", "1"},   {"OFF", "0"}, {"ALSO_ON", "ON"},
                                                  {"EMPTY", ""}, {"TWO", "2"}, {"ITSELF", "ITSELF && ITSELF"}};
  const auto tokens = cpp_tokens(source);
  std::string text;
  for (const CppToken& token : compiled_tokens(tokens, 0, tokens.size(), macros)) text += std::string(token.text) + " ";
  return text;
}

TEST(ConditionalText, KeepsTheBranchThatIsCompiled) {
  EXPECT_EQ(kept("a\n#if ON\nb\n#else\nc\n#endif\nd"), "a b d ");
  EXPECT_EQ(kept("a\n#if OFF\nb\n#else\nc\n#endif\nd"), "a c d ");
  EXPECT_EQ(kept("#if OFF\na\n#elif TWO == 2\nb\n#elif ON\nc\n#else\nd\n#endif"), "b ");
  EXPECT_EQ(kept("#if !OFF\n#if OFF\na\n#endif\nb\n#endif"), "b ");
  EXPECT_EQ(kept("#ifdef EMPTY\na\n#endif\n#ifndef OFF\nb\n#endif"), "a ");
}

TEST(ConditionalText, ReadsOperatorsAndUnknownNamesAsZero) {
  EXPECT_EQ(kept("#if defined(ON) && !defined NONE && (OFF || ALSO_ON)\na\n#endif"), "a ");
  EXPECT_EQ(kept("#if NONE\na\n#endif\n#if TWO >= 3\nb\n#endif\n#if TWO != 1\nc\n#endif"), "c ");
}

// What cannot be read is kept: the other branch would be a guess too.
TEST(ConditionalText, KeepsWhatItCannotDecide) {
  EXPECT_EQ(kept("#if TWO + 1\na\n#else\nb\n#endif"), "a ");
  EXPECT_EQ(kept("#if ITSELF\na\n#endif\n#endif\n#else\nb"), "a b ");
}

std::string without(const std::string& source) {
  const std::string text = without_excluded(source);
  EXPECT_EQ(text.size(), source.size());
  std::string kept;
  for (const CppToken& token : cpp_tokens(text))
    if (token.kind != CppToken::Kind::line) kept += std::string(token.text) + " ";
  return kept;
}

TEST(ConditionalText, LeavesOutWhatItsOwnDefinesDecide) {
  EXPECT_EQ(without("#define A\n#ifdef A\na\n#else\nb\n#endif\nc"), "a c ");
  EXPECT_EQ(without("#define A 2\n#if A == 1\na\n#elif A == 2\nb\n#else\nc\n#endif"), "b ");
  EXPECT_EQ(without("#if 0\na\n#if X\nb\n#endif\n#else\nc\n#endif\nd"), "c d ");
  EXPECT_EQ(without("#define A 0\n#if defined(A) && !A\na\n#endif\n#if A\nb\n#endif"), "a ");
  EXPECT_EQ(
      without("#define A 1\n#if A\n#define B\n#else\n#define C\n#endif\n#ifndef B\na\n#endif\n#ifdef C\nb\n#endif"),
      "b ")
      << "nothing defines C, but a compiler's option may";
}

TEST(ConditionalText, LeavesNothingOutThatMayBeSetFromOutside) {
  EXPECT_EQ(without("#ifdef A\na\n#else\nb\n#endif"), "a b ");
  EXPECT_EQ(without("#ifndef A\n#define A 1\n#endif\n#if A == 1\na\n#else\nb\n#endif"), "a b ");
  EXPECT_EQ(without("#define A\n#undef A\n#ifdef A\na\n#endif"), "a ");
  EXPECT_EQ(without("#define A 1\n#if A && X\na\n#elif A\nb\n#else\nc\n#endif"), "a b ");
}

}  // namespace
}  // namespace attnscope::catalog
