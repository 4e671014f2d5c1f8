#include "core/source_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As the lines of a text: 1 #line, 2 a, 3 #line, 4 b, 5 b, 6 #line, 7 a, 8 a.
const std::string kText =
    "#line 1 \"k.cu\"\nint a;\n#line 10 \"common/x.h\"\nint b;\nint c;\n# 3 \"k.cu\"\nint d;\nint e;\n";

TEST(SourceLines, AreTheTextsOwnWithoutDirectives) {
  const SourceLines lines("k.cu", "int a;\nint b;\n");
  EXPECT_FALSE(lines.has_directives());
  EXPECT_EQ(lines.place_of(2), (SourcePlace{"k.cu", 2}));
  EXPECT_EQ(lines.text_line("k.cu", 2), 2);
  EXPECT_EQ(lines.text_line("x.h", 2), 0);
  EXPECT_EQ(lines.text_line("k.cu", 0), 0);
  EXPECT_THAT(lines.files(), ElementsAre("k.cu"));
}

TEST(SourceLines, AreThoseThatDirectivesName) {
  const SourceLines lines("whole_k.cu", kText);
  EXPECT_TRUE(lines.has_directives());
  EXPECT_EQ(lines.place_of(2), (SourcePlace{"k.cu", 1}));
  EXPECT_EQ(lines.place_of(5), (SourcePlace{"common/x.h", 11}));
  EXPECT_EQ(lines.place_of(8), (SourcePlace{"k.cu", 4}));
  for (const int64_t line : {2, 4, 5, 7, 8}) {
    const SourcePlace place = lines.place_of(line);
    EXPECT_EQ(lines.text_line(place.file, place.line), line);
  }
  EXPECT_EQ(lines.text_line("common/x.h", 9), 0);
  EXPECT_EQ(lines.text_line("common/x.h", 13), 0) << "behind its part";
  EXPECT_EQ(lines.text_line("k.cu", 1000000), 0);
  EXPECT_EQ(lines.text_line("x.h", 10), 0);
  EXPECT_THAT(lines.files(), ElementsAre("whole_k.cu", "k.cu", "common/x.h"));
}

TEST(SourceLines, ADirectiveWithoutANameKeepsTheFile) {
  const SourceLines lines("k.cu", "int a;\n#line 100\nint b;\n");
  EXPECT_EQ(lines.place_of(3), (SourcePlace{"k.cu", 100}));
  EXPECT_EQ(lines.text_line("k.cu", 100), 3);
  EXPECT_EQ(lines.text_line("k.cu", 1), 1);
}

TEST(SourceLines, OnlyWhatTheCompilerReadsIsADirective) {
  EXPECT_THAT(line_directives("// #line 3 \"x\"\nconst char* a = \"#line 3\";\n#if 0\n#line 3 \"x\"\n#endif\n"),
              IsEmpty());
  for (const char* broken : {"#line", "#line 0 \"x\"\n", "#line x\n", "#line 3 'x'\n",
                             "#line 99999999999999999999 \"x\"\n", "#line 3 \"x", "#"})
    for (const LineDirective& one : line_directives(broken)) EXPECT_EQ(one.file, "") << broken;
  const auto split = line_directives("int a;\n#line 7 \\\n \"x.h\"\nint b;\n");
  ASSERT_EQ(split.size(), 1u);
  EXPECT_EQ(split[0].text_line, 4);
  EXPECT_EQ(split[0].line, 7);
  EXPECT_EQ(split[0].file, "x.h");
}

}  // namespace
}  // namespace attnscope
