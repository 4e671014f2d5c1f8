#include "charts/ptx_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PtxLines, ComeFromTheLinesOfTheirLoc) {
  const std::string ptx =
      ".visible .entry k(\n"
      ")\n"
      "{\n"
      "\t.loc\t1 12 3\n"
      "\tmov.u32 \t%r1, %tid.x;\n"
      "\t.loc\t2 700 9, function_name $L__info_string0, inlined_at 1 20 5\n"
      "\tadd.f16 \t%h1, %h2, %h3;\n"
      "\n"
      "\t.loc\t1 7 1, function_name $L__info_string1, inlined_at 1 30 2\n"
      "\tret;\n"
      "}\n"
      "\t.file\t1 \"/src/k.cu\"\n"
      "\t.file\t2 \"/usr/include/cuda_fp16.hpp\"\n";
  const std::vector<PtxLine> lines = ptx_lines(ptx, SourceLines("k.cu"));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_THAT(lines[2].lines, IsEmpty());
  EXPECT_EQ(lines[3].text, "\tmov.u32 \t%r1, %tid.x;");
  EXPECT_THAT(lines[3].lines, ElementsAre(12));
  EXPECT_THAT(lines[4].lines, ElementsAre(20)) << "the header's line is not in the source";
  EXPECT_THAT(lines[5].lines, IsEmpty());
  EXPECT_THAT(lines[6].lines, ElementsAre(7, 30));
  EXPECT_THAT(lines[7].lines, IsEmpty());
  EXPECT_THAT(ptx_lines(ptx, SourceLines("other.cu"))[3].lines, IsEmpty());
  EXPECT_THAT(ptx_lines("", SourceLines("k.cu")), IsEmpty());
  // Line 12 of k.cu is the text's line 2, and line 20 the text's line 5.
  const SourceLines pasted("whole_k.cu", "#line 12 \"k.cu\"\na\nb\n#line 20 \"k.cu\"\nc\n");
  EXPECT_THAT(ptx_lines(ptx, pasted)[3].lines, ElementsAre(2));
  EXPECT_THAT(ptx_lines(ptx, pasted)[4].lines, ElementsAre(5));
}

}  // namespace
}  // namespace attnscope::charts
