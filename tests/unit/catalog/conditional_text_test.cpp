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

}  // namespace
}  // namespace attnscope::catalog
