#include "cli/timeline_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "charts/timeline_view.h"
#include "support/made_up_timeline.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::made_up_timeline;

TEST(TimelineText, EachWarpIsALineOfLetters) {
  const std::string text = timeline_text(made_up_timeline(), "tiled, M64 W4", "emulated:l4");
  EXPECT_THAT(text, HasSubstr("tiled, M64 W4, modelled"));
  EXPECT_THAT(text, HasSubstr("SM 1 of 3 (emulated:l4): 1 CTA, 2 at a time; 8 clocks"));
  EXPECT_THAT(text, HasSubstr("CTAs by SM: 1 SM with 2, 2 with 1."));
  EXPECT_THAT(text, HasSubstr("0    0     0  #mmb"));
  EXPECT_THAT(text, HasSubstr("0    1     1  .#s \n")) << "no warp for most of the last column";
  EXPECT_THAT(text, Not(HasSubstr("The simulation ends here")));
}

TEST(TimelineText, WhatItDoesNotHoldIsSaid) {
  SmTimeline timeline = made_up_timeline();
  timeline.complete = false;
  timeline.by_instructions = true;
  const std::string text = timeline_text(timeline, "tiled", "emulated:l4");
  EXPECT_THAT(text, HasSubstr("The simulation ends here"));
  EXPECT_THAT(text, HasSubstr("by their instructions"));
  timeline = made_up_timeline();
  timeline.total_ctas = 1000;
  EXPECT_THAT(timeline_text(timeline, "tiled", "emulated:l4"), HasSubstr("the first 4 of 1,000 CTAs"));
  timeline = testing_support::made_up_clocks();
  EXPECT_THAT(charts::timeline_caution(timeline), Not(HasSubstr("At most")));
  timeline.warps.resize(SmTimeline::kMostWarps);
  timeline.spans.resize(SmTimeline::kMostSpans);
  EXPECT_THAT(charts::timeline_caution(timeline), HasSubstr("At most 128 rows of warps are here."));
  EXPECT_THAT(charts::timeline_caution(timeline), HasSubstr("At most 16,384 warps are here"));
}

TEST(TimelineText, JsonHasEachColumnsShares) {
  const Json json = timeline_json(made_up_timeline());
  EXPECT_EQ(json.at("kind"), "modelled");
  EXPECT_EQ(json.at("ctas").size(), 4U);
  EXPECT_EQ(json.at("warps").size(), 2U);
  EXPECT_EQ(json.at("warps")[0].at("shares").at("global memory"), (Json{0.25, 1.0, 1.0, 0.0}));
}

TEST(TimelineText, MeasuredWarpsAreBarsAndTheTwinIsNamed) {
  const std::string text = timeline_text(testing_support::made_up_clocks(), "tiled, M64 W4", "cuda:0");
  EXPECT_THAT(text, HasSubstr("tiled, M64 W4, measured"));
  EXPECT_THAT(text, HasSubstr("an instrumented twin: 44 registers, the kernel has 40."));
  EXPECT_THAT(text, HasSubstr("    0    0  " + std::string(96, '=') + "\n"));
  EXPECT_THAT(text, HasSubstr("    0    1  " + std::string(12, ' ') + std::string(60, '=') + std::string(24, ' ')));
  EXPECT_THAT(text, Not(HasSubstr("barrier"))) << "what a warp waits for was not measured";
  SmTimeline fewer = testing_support::made_up_clocks();
  fewer.twin->ctas_sm = 1;
  EXPECT_THAT(timeline_text(fewer, "", ""), HasSubstr("an SM holds 1 of its CTAs, and 2 of the kernel's"));
}

TEST(TimelineText, JsonHasEachMeasuredWarpsSpans) {
  const Json json = timeline_json(testing_support::made_up_clocks());
  EXPECT_EQ(json.at("kind"), "measured");
  EXPECT_EQ(json.at("twin").at("registers"), 44);
  EXPECT_EQ(json.at("warps")[1].at("spans"), (Json{{{"cta", 1}, {"from", 1.0}, {"to", 6.0}}}));
  EXPECT_FALSE(json.at("warps")[0].contains("shares"));
}

TEST(TimelineView, TheFigureOfMeasuredWarpsHasABarForEach) {
  const charts::Figure warps = charts::warps_figure(testing_support::made_up_clocks(), "cuda:0");
  ASSERT_EQ(warps.bars.size(), 2U);
  EXPECT_EQ(warps.bars[1].from, 1);
  EXPECT_EQ(warps.bars[1].to, 6);
  EXPECT_EQ(warps.sheet.rows.size(), 2U);
  EXPECT_THAT(warps.note, HasSubstr("measured"));
}

// Four CTAs on three SMs that hold four each are one wave, even if none of them met on an SM.
TEST(TimelineView, AMeasuredWaveFillsWhatTheTwinsOccupancyAllows) {
  SmTimeline roomy = testing_support::made_up_clocks();
  roomy.places = 1, roomy.twin->ctas_sm = 4;
  EXPECT_THAT(charts::timeline_heading(roomy, "cuda:0"), HasSubstr("4 at a time"));
  for (const CtaSpan& one : roomy.ctas) EXPECT_EQ(charts::wave_of(roomy, one), 0) << one.cta;
  roomy.twin.reset();  // the model's places are its occupancy
  EXPECT_THAT(charts::timeline_heading(roomy, "cuda:0"), HasSubstr("1 at a time"));
  EXPECT_EQ(charts::wave_of(roomy, roomy.ctas[3]), 1);
}

TEST(TimelineView, CoarserColumnsKeepTheShares) {
  const SmTimeline timeline = made_up_timeline(), half = charts::coarser(timeline, 2);
  EXPECT_EQ(half.columns, 2);
  EXPECT_EQ(half.column, 4);
  EXPECT_FLOAT_EQ(half.share(0, 0, WarpState::memory), 0.625f);
  const charts::StateShares fine = charts::state_shares(timeline), coarse = charts::state_shares(half);
  for (size_t state = 0; state < kWarpStates; ++state) EXPECT_NEAR(fine[state], coarse[state], 1e-6);
}

TEST(TimelineView, TheFiguresHoldEveryCtaAndColumn) {
  const SmTimeline timeline = made_up_timeline();
  const charts::Figure ctas = charts::ctas_figure(timeline, "emulated:l4");
  EXPECT_EQ(ctas.bars.size(), 4U);
  EXPECT_EQ(ctas.sheet.rows.size(), 4U);
  const charts::Figure warps = charts::warps_figure(timeline, "emulated:l4");
  EXPECT_EQ(warps.sheet.rows.size(), 2U * 4U);
  double clocks = 0;
  for (const charts::FigureBar& bar : warps.bars)
    if (bar.row == 0) clocks += bar.to - bar.from;
  EXPECT_NEAR(clocks, 8, 1e-6);
}

}  // namespace
}  // namespace attnscope::cli
