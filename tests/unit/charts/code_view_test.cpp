#include "charts/code_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sampled_line.h"

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// k.cu has five lines. Line 2 is a function that line 4 calls; a header's function is inlined into line 2.
Listing listing() {
  Listing made{.experiment_hash = "x", .files = {"k.cu", "/usr/include/cuda_fp16.hpp"}};
  made.lines = {
      {.text = "LDS R0, [R2]", .places = {{0, 2}, {0, 4}}, .counts = CodeCounts{10, 320, 40, 10, 0, 5}},
      {.text = "HADD2 R1, R0, R0", .places = {{1, 700}, {0, 2}, {0, 4}}, .counts = CodeCounts{10, 160, 0, 0, 0, 1}},
      {.text = "STG [R4], R1", .places = {{0, 5}}, .counts = CodeCounts{10, 320, 0, 0, 80, 2}},
      {.text = "NOP", .counts = CodeCounts{}}};
  made.counted = true;
  return made;
}

TEST(CodeView, FiguresGoToTheInnermostLineOfTheSource) {
  const CodeView view = code_view(listing(), nullptr, SourceLines("k.cu"), 5);
  EXPECT_EQ(view.lines[1].us, 6) << "the header's instruction is the line's that calls it";
  EXPECT_EQ(view.lines[1].instructions, 20);
  EXPECT_EQ(view.lines[1].conflicts, 30);
  EXPECT_EQ(view.lines[3], Heat{}) << "the call itself has no instruction of its own";
  EXPECT_EQ(view.lines[4].sectors, 80);
  double sum = 0;
  for (const Heat& line : view.lines) sum += line.us;
  EXPECT_EQ(sum, 8);
}

TEST(CodeView, LinesAndInstructionsLeadToEachOtherThroughInlinedCalls) {
  const CodeView view = code_view(listing(), nullptr, SourceLines("k.cu"), 5);
  EXPECT_THAT(view.instructions_of[1], ElementsAre(0, 1));
  EXPECT_THAT(view.instructions_of[3], ElementsAre(0, 1));
  EXPECT_THAT(view.instructions_of[4], ElementsAre(2));
  EXPECT_THAT(view.lines_of[1], ElementsAre(2, 4));
  EXPECT_TRUE(view.lines_of[3].empty());
  // A source that was edited since and is now shorter.
  const CodeView shorter = code_view(listing(), nullptr, SourceLines("k.cu"), 3);
  EXPECT_THAT(shorter.lines_of[0], ElementsAre(2));
  EXPECT_TRUE(shorter.lines_of[2].empty());
  EXPECT_TRUE(code_view(listing(), nullptr, SourceLines("other.cu"), 5).lines_of[0].empty());
}

// Headers pasted into k.cu: line 3 of the text is the header's 700, lines 5 to 8 are k.cu's 2 to 5.
TEST(CodeView, LinesAreThoseThatTheTextsDirectivesName) {
  const SourceLines pasted(
      "whole_k.cu", "#line 1 \"k.cu\"\n#line 700 \"/usr/include/cuda_fp16.hpp\"\na\n#line 2 \"k.cu\"\nb\nc\nd\ne\n");
  Observation seen;
  Finding race;
  race.rule = RuleId::race_shared;
  race.where = {{"file", "k.cu"}, {"line", "5"}};
  race.where["other_file"] = "/usr/include/cuda_fp16.hpp";
  race.where["other_line"] = "700";
  seen.watch = WatchReport{1, 1, 1, 1, {race}, {}};
  const CodeView view = code_view(listing(), &seen, pasted, 8);
  EXPECT_THAT(view.lines_of[0], ElementsAre(5, 7));
  EXPECT_THAT(view.lines_of[1], ElementsAre(3, 5, 7));
  EXPECT_THAT(view.instructions_of[7], ElementsAre(2));
  EXPECT_EQ(view.lines[7].races, 1);
  EXPECT_EQ(view.lines[2].races, 1);
}

TEST(CodeView, HottestFirstByEachColumn) {
  const CodeView view = code_view(listing(), nullptr, SourceLines("k.cu"), 5);
  EXPECT_THAT(view.hot_lines(HeatColumn::time), ElementsAre(2, 5));
  EXPECT_THAT(view.hot_lines(HeatColumn::sectors), ElementsAre(5));
  EXPECT_THAT(view.hot_instructions(HeatColumn::time), ElementsAre(0, 2, 1));
  EXPECT_THAT(view.hot_instructions(HeatColumn::lanes), ElementsAre(1)) << "half of its lanes are idle";
  EXPECT_EQ(view.share_of_line(4, HeatColumn::time), 2.0 / 6);
  EXPECT_EQ(view.share_of_instruction(0, HeatColumn::conflicts), 1);
  EXPECT_EQ(view.share_of_line(99, HeatColumn::time), 0);
  EXPECT_FALSE(view.has(HeatColumn::races));
}

TEST(CodeView, CellsSayTheFigure) {
  const CodeView view = code_view(listing(), nullptr, SourceLines("k.cu"), 5);
  EXPECT_EQ(view.lines[1].text(HeatColumn::lanes), "24.0");
  EXPECT_EQ(view.lines[1].text(HeatColumn::time), "6.00 µs");
  EXPECT_EQ(view.lines[1].text(HeatColumn::sectors), "");
  EXPECT_EQ(view.lines[0].text(HeatColumn::lanes), "");
}

TEST(CodeView, RacesAreThoseThatNameTheLine) {
  Observation seen;
  Finding race;
  race.rule = RuleId::race_shared;
  race.where = {{"file", "k.cu"}, {"line", "2"}, {"other_file", "k.cu"}, {"other_line", "5"}};
  Finding same = race;
  same.where["other_line"] = "2";
  Finding elsewhere = race;
  elsewhere.where["file"] = elsewhere.where["other_file"] = "other.cu";
  Finding other = race;
  other.rule = RuleId::luck_order;
  seen.watch = WatchReport{1, 1, 1, 1, {race, same, elsewhere, other}, {}};
  const CodeView view = code_view(listing(), &seen, SourceLines("k.cu"), 5);
  EXPECT_EQ(view.lines[1].races, 2);
  EXPECT_EQ(view.lines[4].races, 1);
  EXPECT_EQ(view.instructions[2].races, 1);
  EXPECT_THAT(view.hot_lines(HeatColumn::races), ElementsAre(2, 5));
}

TEST(CodeView, SamplesAreAColumnOfTheirOwn) {
  Observation profiled;
  const auto sampled = [&](const char* file, int64_t line, int64_t samples) {
    SampledLine made;
    made.file = file;
    made.line = line;
    made.samples = samples;
    profiled.findings.push_back(to_finding(made, ""));
  };
  sampled("k.cu", 2, 30);
  sampled("k.cu", 99, 7);
  sampled("elsewhere.h", 2, 5);
  const CodeView view = code_view(listing(), nullptr, SourceLines("k.cu"), 5, &profiled);
  EXPECT_THAT(view.hot_lines(HeatColumn::samples), ElementsAre(2)) << "a line that the source has not is left out";
  EXPECT_EQ(view.lines[1].text(HeatColumn::samples), "30");
  EXPECT_FALSE(code_view(listing(), nullptr, SourceLines("k.cu"), 5).has(HeatColumn::samples));
}

TEST(CodeView, ControlIsDecoded) {
  const CodeControl control{.stall = 4, .yields = true, .write_barrier = 0, .wait_mask = 9, .reuse = 3};
  EXPECT_EQ(control_text(control), "0--3--:R-:W0:Y:S04");
  const std::string words = control_words(control);
  for (const char* part : {"scoreboard 0, 3 first", "4 clocks", "another warp", "result releases scoreboard 0", "a, b"})
    EXPECT_THAT(words, HasSubstr(part));
  EXPECT_EQ(control_text({.stall = 15, .read_barrier = 5}), "------:R5:W-:-:S15");
  EXPECT_EQ(control_words({.stall = 1}), "The warp's next instruction comes 1 clock later at the earliest.");
}

TEST(CodeView, PlacesAreTheChainOfCalls) {
  const Listing made = listing();
  EXPECT_EQ(places_text(made, made.lines[1]), "cuda_fp16.hpp:700 < k.cu:2 < k.cu:4");
  EXPECT_EQ(places_text(made, made.lines[3]), "");
}

}  // namespace
}  // namespace attnscope::charts
