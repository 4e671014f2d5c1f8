#include "core/cpp_tokens.h"

#include <gmock/gmock.h>

#include <string>

namespace attnscope {
namespace {

using testing::ElementsAre;
using Kind = CppToken::Kind;

std::vector<std::string> texts(std::string_view source) {
  std::vector<std::string> found;
  for (const CppToken& token : cpp_tokens(source)) found.emplace_back(token.text);
  return found;
}

std::vector<Kind> kinds(std::string_view source) {
  std::vector<Kind> found;
  for (const CppToken& token : cpp_tokens(source)) found.push_back(token.kind);
  return found;
}

TEST(CppTokens, BlanksAndCommentsAreNone) {
  EXPECT_THAT(texts("a\tb\rc\fd\ve f\ng"), ElementsAre("a", "b", "c", "d", "e", "f", "g"));
  EXPECT_THAT(texts("a // b\nc /* d\n e */ f"), ElementsAre("a", "c", "f"));
  EXPECT_THAT(texts("a // b \\\n still a comment\nc"), ElementsAre("a", "c"));
  EXPECT_THAT(texts("a \\\n b"), ElementsAre("a", "b"));
  EXPECT_THAT(texts("\xEF\xBB\xBF"
                    "a"),
              ElementsAre("a"));
  EXPECT_THAT(texts("a / b /* never closed"), ElementsAre("a", "/", "b"));
}

// As files from Windows have them.
TEST(CppTokens, LinesThatEndWithAReturnAreJoinedToo) {
  EXPECT_THAT(texts("a \\\r\n b"), ElementsAre("a", "b"));
  EXPECT_THAT(texts("a // b \\\r\n still a comment\r\nc"), ElementsAre("a", "c"));
  EXPECT_THAT(texts("#define M(x) { \\\r\n x }\r\nb"), ElementsAre("#define M(x) { \\\r\n x }\r", "b"));
  EXPECT_THAT(texts("a \\\r b"), ElementsAre("a", "\\", "b")) << "a return by itself ends no line";
}

TEST(CppTokens, WordsNumbersMarksAndTexts) {
  EXPECT_THAT(texts("_a1 += x->y;"), ElementsAre("_a1", "+", "=", "x", "-", ">", "y", ";"));
  EXPECT_THAT(kinds("a 1 + \"s\" 'c'"), ElementsAre(Kind::word, Kind::number, Kind::mark, Kind::text, Kind::text));
  EXPECT_THAT(texts("1'000'000 0x1p-3f 1e+5 1.5f 3E-2"), ElementsAre("1'000'000", "0x1p-3f", "1e+5", "1.5f", "3E-2"));
  EXPECT_THAT(texts("1+2 0x3-1"), ElementsAre("1", "+", "2", "0x3", "-", "1"));
  EXPECT_THAT(texts("f(1, '2')"), ElementsAre("f", "(", "1", ",", "'2'", ")"));
  EXPECT_THAT(texts("1' '"), ElementsAre("1", "' '")) << "a digit separator stands between digits";
}

TEST(CppTokens, ALiteralHidesWhatIsInIt) {
  EXPECT_THAT(texts("a \"/* \\\" // #if 0\" b"), ElementsAre("a", "\"/* \\\" // #if 0\"", "b"));
  EXPECT_THAT(texts("'\\'' b"), ElementsAre("'\\''", "b"));
  EXPECT_THAT(texts("\"ends with its line\nb"), ElementsAre("\"ends with its line\n", "b"));
  EXPECT_THAT(texts("\"never closed"), ElementsAre("\"never closed"));
}

TEST(CppTokens, ARawTextEndsAtItsOwnDelimiter) {
  for (const std::string prefix : {"R", "u8R", "uR", "UR", "LR"}) {
    const std::string raw = "\"x(a )\" \\ \n \")x\"";
    ASSERT_THAT(texts(prefix + raw + " b"), ElementsAre(testing::_, "b")) << prefix;
    const std::string source = prefix + raw + " b";
    EXPECT_EQ(cpp_tokens(source)[0].kind, Kind::text);
    EXPECT_TRUE(std::string(cpp_tokens(source)[0].text).ends_with(")x\""));
  }
  EXPECT_THAT(texts("xR\"(a)\""), ElementsAre("xR", "\"(a)\""));
}

TEST(CppTokens, APreprocessorLineIsOne) {
  EXPECT_THAT(texts("  # define A \\\n 1 /* two\n lines */ 3\nb #c"),
              ElementsAre("# define A \\\n 1 /* two\n lines */ 3", "b", "#", "c"));
  EXPECT_THAT(texts("#define A 1 // remark\nb"), ElementsAre("#define A 1 // remark", "b"));
  EXPECT_EQ(cpp_tokens("#define A")[0].kind, Kind::line);
}

TEST(CppTokens, TextUnderIfZeroGivesNone) {
  EXPECT_THAT(texts("#if 0\ndon't\n#endif\na"), ElementsAre("#if 0", "#endif", "a"));
  EXPECT_THAT(texts("# if 0\nx\n# else\ny\n#endif\na"), ElementsAre("# if 0", "# else", "y", "#endif", "a"));
  EXPECT_THAT(texts("#if 0\nx\n#elif B\ny\n#endif"), ElementsAre("#if 0", "#elif B", "y", "#endif"));
  EXPECT_THAT(texts("#if 0\n#ifdef A\nx\n#else\ny\n#endif\n#ifndef B\n#endif\n #if C\n#endif\nz\n#endif\na"),
              ElementsAre("#if 0", "#endif", "a"))
      << "an inner one's else and endif do not end it";
  EXPECT_THAT(texts("#if 1\nx\n#endif\n#if 00\ny\n#endif\n#ifdef A\nz\n#endif"),
              ElementsAre("#if 1", "x", "#endif", "#if 00", "y", "#endif", "#ifdef A", "z", "#endif"));
  EXPECT_THAT(texts("#if 0\nnever closed"), ElementsAre("#if 0"));
}

TEST(CppTokens, SayWhereTheyStand) {
  const std::string_view source = "ab  \"c\"";
  const auto tokens = cpp_tokens(source);
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[1].at, 4u);
  EXPECT_EQ(tokens[1].end(), source.size());
  EXPECT_TRUE(tokens[0].is("ab"));
  EXPECT_FALSE(tokens[1].is("\"c\"")) << "a text is no code";
}

TEST(CppBrackets, EachIsClosedByItsOwn) {
  const auto tokens = cpp_tokens("f(a[1], {b}) (");
  const CppBrackets brackets(tokens);
  EXPECT_EQ(brackets.closing(1), 10u);
  EXPECT_EQ(brackets.closing(3), 5u);
  EXPECT_EQ(brackets.closing(7), 9u);
  EXPECT_EQ(brackets.closing(11), tokens.size()) << "it is never closed";
  const auto wrong = cpp_tokens(") a ]");
  EXPECT_EQ(CppBrackets(wrong).closing(0), wrong.size());
}

TEST(CppBrackets, AnglesEndWithTheirBracketOrStatement) {
  const auto tokens = cpp_tokens("a<b<c>> (d < e) f > g; h < i; j >");
  const CppBrackets brackets(tokens);
  EXPECT_EQ(brackets.behind_angles(1), 7u);
  EXPECT_EQ(brackets.behind_angles(3), 6u);
  EXPECT_EQ(brackets.behind_angles(9), 10u) << "a comparison in brackets";
  EXPECT_EQ(brackets.behind_angles(17), 18u) << "a comparison in a statement";
}

}  // namespace
}  // namespace attnscope
