#include "charts/code_ghost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNull;

// Three instructions of two lines of k.cu; every one was issued `issued` times in all 8 CTAs.
Listing listing(const char* middle, double issued) {
  Listing made{.experiment_hash = "x", .files = {"k.cu"}};
  made.lines = {{.text = "LDS R0, [R2]", .places = {{0, 2}}, .counts = CodeCounts{issued, 32 * issued, 40, 10, 0, 5}},
                {.text = middle, .places = {{0, 2}}, .counts = CodeCounts{issued, 32 * issued, 0, 0, 0, 1}},
                {.text = "STG [R4], R1", .places = {{0, 3}}, .counts = CodeCounts{issued, 32 * issued, 0, 0, 80, 2}}};
  made.counted = true;
  made.emulated_ctas = made.total_ctas = 8;
  return made;
}

struct Runs {
  Listing code_a = listing("HMUL2 R1, R0, R0", 30), code_b = listing("HADD2 R1, R0, R0", 10);
  Observation a, b;
  const Observation *profiled_a = nullptr, *profiled_b = nullptr;

  Runs() { a.experiment.kernel_hash = b.experiment.kernel_hash = "one source"; }
  CodeGhost ghost() const {
    return code_ghost({code_a, a, profiled_a}, {code_b, b, profiled_b}, SourceLines("k.cu"), 4);
  }
};

TEST(CodeGhost, InstructionsAreTheSameWhereTheDiffAlignsThem) {
  Runs runs;
  runs.code_a.lines.insert(runs.code_a.lines.begin(), CodeLine{.text = "NOP", .counts = CodeCounts{}});
  runs.code_a.lines[1].text = "LDS R8, [R9]";  // other registers
  const CodeGhost ghost = runs.ghost();
  EXPECT_THAT(ghost.aligned, ElementsAre(1, -1, 3));
  ASSERT_NE(ghost.at_instruction(0, HeatColumn::instructions), nullptr);
  EXPECT_EQ(ghost.at_instruction(0, HeatColumn::instructions)->instructions, 30);
  EXPECT_EQ(ghost.at_instruction(0, HeatColumn::time)->us, 5);
  EXPECT_THAT(ghost.at_instruction(1, HeatColumn::instructions), IsNull()) << "A does not have it";
  EXPECT_THAT(ghost.at_instruction(9, HeatColumn::instructions), IsNull());
  EXPECT_EQ(ghost.at_line(1, HeatColumn::instructions)->instructions, 60);
  EXPECT_THAT(ghost.at_line(4, HeatColumn::instructions), IsNull());
  EXPECT_EQ(ghost.note, "");
}

TEST(CodeGhost, OfAnotherSourceOnlyTheInstructionsStandThere) {
  Runs runs;
  runs.a.experiment.kernel_hash = "another source";
  const CodeGhost ghost = runs.ghost();
  EXPECT_FALSE(ghost.has_lines());
  EXPECT_THAT(ghost.at_line(1, HeatColumn::time), IsNull());
  EXPECT_NE(ghost.at_instruction(0, HeatColumn::time), nullptr);
  EXPECT_THAT(ghost.note, HasSubstr("only its SASS"));
}

TEST(CodeGhost, OfAnotherLaunchNothingStandsThere) {
  Runs runs;
  runs.code_a.launch = "launch 2, row_sum";
  const CodeGhost ghost = runs.ghost();
  EXPECT_FALSE(ghost.has_lines());
  EXPECT_THAT(ghost.at_instruction(0, HeatColumn::time), IsNull());
  EXPECT_EQ(ghost.note, "A's code is another launch's: launch 2, row_sum");
}

TEST(CodeGhost, AFigureThatIsNotKnownOfBothIsNotNone) {
  Runs runs;
  const auto known = [&](HeatColumn column) { return runs.ghost().at_line(1, column) != nullptr; };
  EXPECT_TRUE(known(HeatColumn::time));
  EXPECT_FALSE(known(HeatColumn::samples));
  EXPECT_FALSE(known(HeatColumn::races));
  runs.a.watch.emplace();
  EXPECT_FALSE(known(HeatColumn::races)) << "B was not watched";
  runs.b.watch.emplace();
  EXPECT_TRUE(known(HeatColumn::races));
  const Observation sampled;
  runs.profiled_a = runs.profiled_b = &sampled;
  EXPECT_TRUE(known(HeatColumn::samples));
  runs.a.versions.app = "another";
  EXPECT_FALSE(known(HeatColumn::time)) << "of another version's model";
  EXPECT_TRUE(known(HeatColumn::instructions));
  runs.code_a.counted = false;
  EXPECT_FALSE(known(HeatColumn::instructions));
  EXPECT_THAT(runs.ghost().note, HasSubstr("no counts"));
  EXPECT_TRUE(runs.ghost().has_lines()) << "its code is there";
}

TEST(CodeGhost, CountsAreOfOneShareOfTheCtas) {
  Runs runs;
  runs.code_a.emulated_ctas = 2;
  const CodeGhost ghost = runs.ghost();
  EXPECT_EQ(ghost.at_instruction(0, HeatColumn::instructions)->instructions, 120) << "of 8 CTAs, as B's";
  EXPECT_EQ(ghost.at_instruction(0, HeatColumn::conflicts)->conflicts, 120);
  EXPECT_EQ(ghost.at_instruction(0, HeatColumn::lanes)->text(HeatColumn::lanes), "32.0");
  EXPECT_EQ(ghost.at_instruction(0, HeatColumn::time)->us, 5) << "the whole run's";
  EXPECT_EQ(ghost.view.hottest(true)[size_t(HeatColumn::sectors)], 320);
  EXPECT_EQ(ghost.note, "A's counts are of 2 of 8 CTAs, scaled");
  runs.code_b.emulated_ctas = 2;
  EXPECT_EQ(runs.ghost().at_line(2, HeatColumn::instructions)->instructions, 30) << "one share";
  EXPECT_EQ(runs.ghost().note, "");
}

TEST(CodeGhost, AFigureSaysAs) {
  Heat b, a;
  EXPECT_EQ(figure_beside(b, &a, HeatColumn::wavefronts), "");
  b.wavefronts = 12;
  EXPECT_EQ(figure_beside(b, nullptr, HeatColumn::wavefronts), "12");
  EXPECT_EQ(figure_beside(b, &a, HeatColumn::wavefronts), "12; A none");
  a.wavefronts = 40;
  EXPECT_EQ(figure_beside(b, &a, HeatColumn::wavefronts), "12; A 40");
  EXPECT_EQ(figure_beside({}, &a, HeatColumn::wavefronts), "none; A 40");
}

}  // namespace
}  // namespace attnscope::charts
