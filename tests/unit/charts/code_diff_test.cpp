#include "charts/code_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;

// The length of a longest common subsequence, from the textbook's table.
int64_t common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<int64_t> row(b.size() + 1);
  for (const std::string& line : a) {
    int64_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t above = row[j];
      row[j] = line == b[j - 1] ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

void expect_whole(const CodeDiff& diff, const std::vector<std::string>& a, const std::vector<std::string>& b) {
  int64_t next_a = 0, next_b = 0, same = 0;
  for (const DiffRow& row : diff.rows) {
    if (row.a >= 0) {
      EXPECT_EQ(row.a, next_a++);
    }
    if (row.b >= 0) {
      EXPECT_EQ(row.b, next_b++);
    }
    if (row.side != DiffSide::same) continue;
    ++same;
    EXPECT_EQ(a[size_t(row.a)], b[size_t(row.b)]);
  }
  EXPECT_EQ(next_a, int64_t(a.size()));
  EXPECT_EQ(next_b, int64_t(b.size()));
  EXPECT_EQ(same, common(a, b)) << "not the shortest change";
  EXPECT_EQ(diff.removed, int64_t(a.size()) - same);
  EXPECT_EQ(diff.added, int64_t(b.size()) - same);
}

TEST(CodeDiff, OfSmallTexts) {
  const std::vector<std::string> a{"one", "two", "three", "four"}, b{"one", "2", "three", "four", "five"};
  const CodeDiff diff = diff_of(a, b);
  EXPECT_THAT(diff.rows, ElementsAre(DiffRow{DiffSide::same, 0, 0}, DiffRow{DiffSide::removed, 1, -1},
                                     DiffRow{DiffSide::added, -1, 1}, DiffRow{DiffSide::same, 2, 2},
                                     DiffRow{DiffSide::same, 3, 3}, DiffRow{DiffSide::added, -1, 4}));
  EXPECT_EQ(diff.removed, 1);
  EXPECT_EQ(diff.added, 2);
  expect_whole(diff_of({}, b), {}, b);
  expect_whole(diff_of(a, {}), a, {});
  expect_whole(diff_of({}, {}), {}, {});
}

// Sizes around the width of a word and beyond the table's, so that every part of the algorithm runs.
TEST(CodeDiff, IsTheShortestForAnyTexts) {
  std::mt19937 random(7);
  for (const size_t size : {3, 63, 64, 65, 300, 700})
    for (const int kinds : {2, 12, 400}) {
      const auto text = [&](size_t lines) {
        std::vector<std::string> made;
        for (size_t i = 0; i < lines; ++i) made.push_back(std::to_string(random() % unsigned(kinds)));
        return made;
      };
      const std::vector<std::string> a = text(size), b = text(size + random() % 40);
      expect_whole(diff_of(a, b), a, b);
    }
}

TEST(CodeDiff, ShowsChangesWithTheLinesAroundThem) {
  std::vector<std::string> a, b;
  for (int i = 0; i < 20; ++i) a.push_back(std::to_string(i));
  b = a;
  b[3] = "x";
  b[5] = "y";
  b[19] = "z";
  const CodeDiff diff = diff_of(a, b);
  EXPECT_THAT(changed_rows(diff, 1), ElementsAre(2, 3, 4, 5, 6, 7, 8, 20, 21, 22));
  EXPECT_TRUE(changed_rows(diff_of(a, a), 3).empty());
}

TEST(CodeDiff, AnotherAllocationOfRegistersIsNoChange) {
  EXPECT_EQ(normal_form("@!P3 LDS.64 R4, [R2.X4+0x10] ;"), "@!P LDS.64 R, [R.X4+0x10]");
  EXPECT_EQ(normal_form("FFMA R1, R2.reuse, R3, RZ"), "FFMA R, R, R, RZ");
  EXPECT_EQ(normal_form("@UP1 UIADD3 UR4, UR5, 0x1, URZ"), "@UP UIADD3 UR, UR, 0x1, URZ");
  EXPECT_EQ(normal_form("BRA `(.L_x_12)"), "BRA label");
  EXPECT_EQ(normal_form("S2R R0, SR_TID.X"), "S2R R, SR_TID.X");
  EXPECT_EQ(normal_form("BSSY B0, `(.L_x_3)"), "BSSY B, label");
  EXPECT_NE(normal_form("IADD3 R1, R1, 0x1, RZ"), normal_form("IADD3 R1, R1, 0x2, RZ"));
  Listing a, b;
  a.lines = {CodeLine{"MOV R1, R2"}, CodeLine{"LDS R4, [R1]"}, CodeLine{"EXIT"}};
  b.lines = {CodeLine{"MOV R7, R3"}, CodeLine{"LDS.128 R4, [R7]"}, CodeLine{"EXIT"}};
  const CodeDiff diff = sass_diff(a, b);
  EXPECT_EQ(diff.removed, 1);
  EXPECT_EQ(diff.added, 1);
}

std::vector<std::string> lines(const std::string& source, const std::map<std::string, int64_t>& macros) {
  std::vector<std::string> texts;
  for (const SourceLine& line : preprocessed(source, macros)) texts.push_back(line.text);
  return texts;
}

TEST(Preprocessed, MacrosHaveTheirValuesAndOtherBranchesAreGone) {
  const std::string source =
      "#ifndef WIDTH  // a comment\n"
      "#define WIDTH 4\n"
      "#endif\n"
      "#if WIDTH >= 8 && defined(WIDTH)\n"
      "wide(WIDTH);  // WIDTH stays in a comment\n"
      "#elif WIDTH == 2\n"
      "two();\n"
      "#else\n"
      "narrow(\"WIDTH\", MY_WIDTH);\n"
      "#endif\n";
  EXPECT_THAT(lines(source, {{"WIDTH", 8}}), ElementsAre("wide(8);  // WIDTH stays in a comment"));
  EXPECT_THAT(lines(source, {{"WIDTH", 2}}), ElementsAre("two();"));
  EXPECT_THAT(lines(source, {{"WIDTH", 1}}), ElementsAre("narrow(\"WIDTH\", MY_WIDTH);"));
  EXPECT_EQ(preprocessed(source, {{"WIDTH", 2}}).front().number, 7);
}

TEST(Preprocessed, TheSourcesOwnNumbersDecideToo) {
  const std::string source = "#define HALF (WIDTH / 2)\n#if HALF > 3\nlarge();\n#else\nsmall();\n#endif\n";
  EXPECT_THAT(lines(source, {{"WIDTH", 8}}), ElementsAre("#define HALF (WIDTH / 2)", "large();"));
  EXPECT_THAT(lines(source, {{"WIDTH", 4}}), ElementsAre("#define HALF (WIDTH / 2)", "small();"));
}

TEST(Preprocessed, AConditionThatCannotBeDecidedKeepsEveryBranch) {
  const std::string source = "#if __CUDA_ARCH__ >= 800\na();\n#elif WIDTH == 3\nb();\n#else\nc();\n#endif\nd();\n";
  EXPECT_THAT(lines(source, {{"WIDTH", 8}}), ElementsAre("a();", "c();", "d();"));
  EXPECT_THAT(lines("#endif\n#else\nx();\n", {}), ElementsAre("x();")) << "a stray end";
}

TEST(Preprocessed, ADifferenceNamesTheLinesThatAKnobChanges) {
  const std::string source = "int a = 1;\nfor (int i = 0; i < WIDTH; ++i)\n  f();\n";
  const auto four = preprocessed(source, {{"WIDTH", 4}}), eight = preprocessed(source, {{"WIDTH", 8}});
  const CodeDiff diff = source_diff(four, eight);
  EXPECT_EQ(diff.removed, 1);
  EXPECT_EQ(diff.added, 1);
  EXPECT_THAT(diff.rows[1], (DiffRow{DiffSide::removed, 1, -1}));
}

}  // namespace
}  // namespace attnscope::charts
