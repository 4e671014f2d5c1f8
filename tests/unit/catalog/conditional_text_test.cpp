#include "catalog/conditional_text.h"

#include <gtest/gtest.h>

#include <string>

namespace attnscope::catalog {
namespace {

std::string words_of(const std::vector<CppToken>& tokens) {
  std::string text;
  for (const CppToken& token : tokens)
    if (token.kind != CppToken::Kind::line) text += std::string(token.text) + " ";
  return text;
}

std::string kept(const std::string& source) {
  const std::map<std::string, std::string> macros{{"ON", "1"},   {"OFF", "0"}, {"ALSO_ON", "ON"},
                                                  {"EMPTY", ""}, {"TWO", "2"}, {"ITSELF", "ITSELF && ITSELF"}};
  const auto tokens = cpp_tokens(source);
  return words_of(compiled_tokens(tokens, 0, tokens.size(), macros));
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

// Every operator on every pair of small numbers, also in brackets, twice in a row and behind a macro's name.
TEST(ConditionalText, OperatorsAreThoseOfC) {
  using Operator = bool (*)(int, int);
  const std::pair<const char*, Operator> operators[] = {{"||", [](int a, int b) { return a != 0 || b != 0; }},
                                                        {"&&", [](int a, int b) { return a != 0 && b != 0; }},
                                                        {"==", [](int a, int b) { return a == b; }},
                                                        {"!=", [](int a, int b) { return a != b; }},
                                                        {"<", [](int a, int b) { return a < b; }},
                                                        {"<=", [](int a, int b) { return a <= b; }},
                                                        {">", [](int a, int b) { return a > b; }},
                                                        {">=", [](int a, int b) { return a >= b; }}};
  const auto holds = [](const std::string& condition) {
    const std::string text = kept("#if " + condition + "\nyes\n#else\nno\n#endif");
    EXPECT_TRUE(text == "yes " || text == "no ") << condition;
    return text == "yes ";
  };
  const char* const names[] = {"OFF", "ON", "TWO"};
  for (const auto& [sign, of] : operators)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        const std::string spelled = std::to_string(a) + " " + sign + " " + std::to_string(b);
        EXPECT_EQ(holds(spelled), of(a, b)) << spelled;
        EXPECT_EQ(holds(std::string(names[a]) + sign + names[b]), of(a, b)) << spelled;
        EXPECT_EQ(holds("!(" + spelled + ")"), !of(a, b)) << spelled;
        EXPECT_EQ(holds("(" + spelled + ") || OFF"), of(a, b)) << spelled;
        EXPECT_EQ(holds("(" + spelled + ") && ON"), of(a, b)) << spelled;
      }
  for (int bits = 0; bits < 8; ++bits) {
    const auto bit = [&](int at) { return std::to_string(bits >> at & 1); };
    const bool a = (bits & 1) != 0, b = (bits & 2) != 0, c = (bits & 4) != 0;
    EXPECT_EQ(holds(bit(0) + " || " + bit(1) + " || " + bit(2)), a || b || c) << bits;
    EXPECT_EQ(holds(bit(0) + " && " + bit(1) + " && " + bit(2)), a && b && c) << bits;
    EXPECT_EQ(holds(bit(0) + " || " + bit(1) + " && " + bit(2)), a || (b && c)) << bits;
    EXPECT_EQ(holds(bit(0) + " && " + bit(1) + " || " + bit(2)), (a && b) || c) << bits;
  }
  EXPECT_TRUE(holds("defined ON"));
  EXPECT_TRUE(holds("defined(ON)"));
  EXPECT_TRUE(holds("defined(EMPTY) && !defined(NONE)"));
  EXPECT_FALSE(holds("defined NONE || defined(NONE)"));
  EXPECT_TRUE(holds("!!TWO"));
  EXPECT_FALSE(holds("!TWO"));
}

TEST(ConditionalText, ABranchIsKeptOnlyInsideKeptOnes) {
  for (int outer = 0; outer < 2; ++outer)
    for (int inner = 0; inner < 2; ++inner) {
      const std::string on[] = {"#if OFF\n", "#if ON\n"};
      const std::string text = kept(on[outer] + "a\n" + on[inner] + "b\n#else\nc\n#endif\nd\n#else\ne\n" + on[inner] +
                                    "f\n#endif\n#endif\ng");
      EXPECT_EQ(text, outer == 1 ? inner == 1 ? "a b d g " : "a c d g " : inner == 1 ? "e f g " : "e g ");
    }
  EXPECT_EQ(kept("#if OFF\na\n#elif ON\nb\n#elif ON\nc\n#endif\nd"), "b d ");
  EXPECT_EQ(kept("#ifndef NONE\na\n#elif ON\nb\n#endif\n#ifdef NONE\nc\n#else\nd\n#endif"), "a d ");
}

// What cannot be read is kept: the other branch would be a guess too.
TEST(ConditionalText, KeepsWhatItCannotDecide) {
  EXPECT_EQ(kept("#if TWO + 1\na\n#else\nb\n#endif"), "a ");
  for (const char* condition :
       {"0 || x ? 1 : 2", "(0", "0)", "0 == ", "defined", "defined(NONE", "0 && ", "0.5", "!", ""})
    EXPECT_EQ(kept("#if " + std::string(condition) + "\na\n#else\nb\n#endif"), "a ") << condition;
  EXPECT_EQ(kept("#if ITSELF\na\n#endif\n#endif\n#else\nb"), "a b ");
}

std::string without(const std::string& source) {
  const std::string text = without_excluded(source);
  EXPECT_EQ(text.size(), source.size());
  return words_of(cpp_tokens(text));
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

// What a macro's text names may be set from outside too.
TEST(ConditionalText, AMacroOfUnknownNamesDecidesNothing) {
  EXPECT_EQ(without("#define BF16 (__CUDA_ARCH__ >= 800)\n#if BF16\na\n#else\nb\n#endif"), "a b ");
  EXPECT_EQ(without("#ifndef X\n#define X 1\n#endif\n#define FAST X\n#if FAST\na\n#else\nb\n#endif"), "a b ");
  EXPECT_EQ(without("#define HAS defined(X)\n#if HAS\na\n#else\nb\n#endif"), "a b ");
  EXPECT_EQ(without("#define A 1\n#define B A\n#if B\na\n#else\nb\n#endif"), "a ");
  EXPECT_EQ(without("#define A " + std::string(300, ' ') + "0\n#if A\na\n#endif"), "a ") << "nor does a long one";
}

TEST(ConditionalText, LinesThatAreLeftOutDefineNothing) {
  EXPECT_EQ(without_excluded("#define A 0\n#if A\n#define L \\\n  1\n#include <x>\n#endif\n"),
            "#define A 0\n#if A\n" + std::string(11, ' ') + "\n   \n" + std::string(12, ' ') + "\n#endif\n");
}

TEST(ConditionalText, NestedConditionsCostTheirLength) {
  std::string deep = "#define A 1\n";
  for (int i = 0; i < 200'000; ++i) deep += "#if A\n";
  deep += std::string(400'000, ';');
  EXPECT_EQ(without_excluded(deep), deep);
}

TEST(ConditionalText, LeavesNothingOutThatMayBeSetFromOutside) {
  EXPECT_EQ(without("#ifdef A\na\n#else\nb\n#endif"), "a b ");
  EXPECT_EQ(without("#ifndef A\n#define A 1\n#endif\n#if A == 1\na\n#else\nb\n#endif"), "a b ");
  EXPECT_EQ(without("#define A\n#undef A\n#ifdef A\na\n#endif"), "a ");
  EXPECT_EQ(without("#define A 1\n#if A && X\na\n#elif A\nb\n#else\nc\n#endif"), "a b ");
}

}  // namespace
}  // namespace attnscope::catalog
