#include "charts/timeline_view.h"

#include <gtest/gtest.h>

#include "charts/format.h"
#include "support/made_up_timeline.h"

namespace attnscope::charts {
namespace {

using testing_support::made_up_clocks;
using testing_support::made_up_timeline;

TEST(TimelineView, EndsWithItsLastCta) {
  SmTimeline timeline = made_up_timeline();
  EXPECT_EQ(ctas_end(timeline), 8);
  timeline.ctas[2].to = 9.5;
  EXPECT_EQ(ctas_end(timeline), 9.5) << "whichever comes last in the grid";
  EXPECT_EQ(ctas_end({}), 0);
}

TEST(TimelineView, TwoStandBesideEachOtherIfTheyShowTheSame) {
  const SmTimeline b = made_up_timeline();
  SmTimeline a = b;
  a.clocks *= 2;
  a.ctas.pop_back();
  EXPECT_EQ(unlike_timelines(a, b), "");
  EXPECT_EQ(unlike_timelines(made_up_clocks(), made_up_clocks()), "");
  EXPECT_EQ(unlike_timelines(made_up_clocks(), b), "one is measured, the other modelled");
  a.launch = "row_sum";
  EXPECT_EQ(unlike_timelines(a, b), "A's is of another launch: row_sum");
  EXPECT_EQ(unlike_timelines(b, a), "A's is of another launch");
  a = b;
  a.sms = 5;
  EXPECT_EQ(unlike_timelines(a, b), "A has 5 SMs");
}

TEST(TimelineView, AWaveFillsEveryPlaceOfTheDevice) {
  SmTimeline timeline = made_up_timeline();  // three SMs of two places
  EXPECT_EQ(at_a_time(timeline), 2);
  for (const auto& [cta, wave] : {std::pair(0, 0), {5, 0}, {6, 1}, {11, 1}, {12, 2}})
    EXPECT_EQ(wave_of(timeline, {cta, 0, 0, 0, 0}), wave) << cta;
  timeline.places = 0;
  EXPECT_EQ(wave_of(timeline, {3, 0, 0, 0, 0}), 3) << "an unknown device holds one";
  SmTimeline measured = made_up_clocks();
  measured.places = 1;
  EXPECT_EQ(at_a_time(measured), 2) << "as many as its twin's occupancy allows";
  measured.twin->ctas_sm = 0;
  EXPECT_EQ(at_a_time(measured), 1);
}

TEST(TimelineView, CountsTheCtasOfAnSm) {
  const SmTimeline timeline = made_up_timeline();
  EXPECT_EQ(ctas_on(timeline, 0), 2);
  EXPECT_EQ(ctas_on(timeline, 1), 1);
  EXPECT_EQ(ctas_on(timeline, 3), 0);
}

TEST(TimelineView, TheHeadingCountsCtasAndClocks) {
  SmTimeline timeline = made_up_timeline();
  EXPECT_EQ(timeline_heading(timeline, "emulated:l4"),
            "SM 1 of 3 (emulated:l4): 1 CTA, 2 at a time; 8 clocks, " + us_text(0.008));
  timeline.sm = 0;
  timeline.launch = "row_sum";
  timeline.clocks = 1228;
  timeline.clock_mhz = 0;
  EXPECT_EQ(timeline_heading(timeline, "d"), "row_sum, SM 0 of 3 (d): 2 CTAs, 2 at a time; 1,228 clocks");
  EXPECT_EQ(kind_of(timeline), FigureKind::modelled);
  EXPECT_EQ(kind_of(made_up_clocks()), FigureKind::measured);
}

TEST(TimelineView, TheCautionSaysWhatIsLeftOut) {
  SmTimeline timeline = made_up_timeline();
  EXPECT_EQ(timeline_caution(timeline), "");
  timeline.total_ctas = 5000;
  EXPECT_EQ(timeline_caution(timeline), "Here are the first 4 of 5,000 CTAs.");
  timeline.complete = false;
  timeline.by_instructions = true;
  EXPECT_EQ(timeline_caution(timeline),
            "The simulation ends here; the kernel runs on. CTAs of the other SMs end by their instructions, at this "
            "SM's rate.");
  timeline.complete = true, timeline.by_instructions = false, timeline.total_ctas = 4;
  timeline.warps.resize(SmTimeline::kMostWarps - 1);
  EXPECT_EQ(timeline_caution(timeline), "");
  timeline.warps.resize(SmTimeline::kMostWarps);
  EXPECT_EQ(timeline_caution(timeline), "At most 128 rows of warps are here.");
  timeline.warps.clear();
  timeline.spans.resize(SmTimeline::kMostSpans - 1);
  EXPECT_EQ(timeline_caution(timeline), "");
  timeline.spans.resize(SmTimeline::kMostSpans);
  EXPECT_EQ(timeline_caution(timeline), "At most 16,384 warps are here; fewer clocks have them all.");
  SmTimeline measured = made_up_clocks();
  EXPECT_EQ(timeline_caution(measured), "Clocks of an instrumented twin: 44 registers, the kernel has 40.");
  measured.twin->ctas_sm = 1;
  EXPECT_EQ(timeline_caution(measured),
            "Clocks of an instrumented twin: 44 registers, the kernel has 40; an SM holds 1 of its CTAs, and 2 of the "
            "kernel's.");
}

// Whatever the number of columns, a state keeps its clocks.
TEST(TimelineView, FewerColumnsKeepTheClocksOfEachState) {
  SmTimeline fine;
  fine.warps = {{0, 0, 0}, {0, 1, 1}, {1, 0, 2}};
  fine.columns = 10, fine.column = 4;
  fine.shares.resize(fine.warps.size() * 10 * kWarpStates);
  for (size_t warp = 0; warp < 3; ++warp)
    for (size_t at = 0; at < 10; ++at) fine.shares[(warp * 10 + at) * kWarpStates + (warp + at) % kWarpStates] = 0.5f;
  for (const size_t columns : {1, 2, 3, 4, 5, 9}) {
    const SmTimeline made = coarser(fine, columns);
    ASSERT_LE(made.columns, int64_t(columns));
    const auto each = size_t(made.column / fine.column);
    EXPECT_EQ(size_t(made.columns), (10 + each - 1) / each) << columns;
    EXPECT_GE(made.to(), fine.to());
    EXPECT_LT(made.to() - made.column, fine.to()) << "no column is empty";
    for (size_t warp = 0; warp < 3; ++warp)
      for (const auto& [state, word] : Words<WarpState>::table) {
        double before = 0, after = 0;
        for (size_t at = 0; at < 10; ++at) before += double(fine.share(warp, at, state)) * 4;
        for (size_t at = 0; at < size_t(made.columns); ++at) {
          const size_t of = std::min(each, 10 - at * each);
          after += double(made.share(warp, at, state)) * 4 * double(of);
        }
        EXPECT_NEAR(after, before, 1e-4) << columns << " " << word;
      }
  }
  EXPECT_EQ(coarser(fine, 10), fine);
  EXPECT_EQ(coarser(fine, 11), fine);
  EXPECT_EQ(coarser(fine, 0), fine);
}

TEST(TimelineView, TheStateOfAColumnIsTheLargestUnlessMostOfItHasNoWarp) {
  SmTimeline timeline = made_up_timeline();
  EXPECT_EQ(most_of(timeline, 0, 0), WarpState::issue);
  EXPECT_EQ(most_of(timeline, 0, 1), WarpState::memory);
  EXPECT_EQ(most_of(timeline, 1, 3), std::nullopt) << "a quarter of it";
  timeline.shares[(1 * 4 + 3) * kWarpStates + size_t(WarpState::result)] = 0.5f;
  EXPECT_EQ(most_of(timeline, 1, 3), WarpState::result) << "half of it";
}

TEST(TimelineView, MarksAreRoundClocks) {
  const auto marks = [](double from, double to) {
    SmTimeline timeline = made_up_clocks();
    timeline.from = from;
    timeline.column = to - from;
    std::string text;
    for (const auto& [at, words] : warps_figure(timeline, "d").x.marks) text += words + " ";
    return text;
  };
  EXPECT_EQ(marks(0, 8), "0 1 2 3 4 5 6 7 8 ");
  EXPECT_EQ(marks(0, 100), "0 20 40 60 80 100 ");
  EXPECT_EQ(marks(90, 1100), "200 400 600 800 1,000 ");
  EXPECT_EQ(marks(0, 40000), "0 10,000 20,000 30,000 40,000 ");
}

TEST(TimelineView, OfManyRowsOnlyTheFirstWarpOfEachPlaceIsNamed) {
  SmTimeline timeline = made_up_clocks();
  timeline.spans.clear();
  const auto names = [&](size_t places, size_t warps) {
    timeline.warps.clear();
    for (size_t place = 0; place < places; ++place)
      for (size_t warp = 0; warp < warps; ++warp) timeline.warps.push_back({int64_t(place), int64_t(warp), 0});
    std::vector<std::string> named;
    for (const auto& [at, words] : warps_figure(timeline, "d").y.marks) named.push_back(words);
    return named;
  };
  EXPECT_EQ(names(6, 4).size(), 24u);
  EXPECT_EQ(names(5, 5), (std::vector<std::string>{"0.0", "1.0", "2.0", "3.0", "4.0"}));
}

TEST(TimelineView, OfManySmsSixteenAtMostAreNamed) {
  SmTimeline timeline = made_up_timeline();
  for (const auto& [sms, named] : {std::pair(16, 16u), {17, 9u}, {132, 15u}}) {
    timeline.sms = sms;
    EXPECT_EQ(ctas_figure(timeline, "d").y.marks.size(), named) << sms;
  }
}

TEST(TimelineView, SharesAreOfTheClocksWithWarps) {
  const StateShares shares = state_shares(made_up_timeline());
  EXPECT_NEAR(shares[static_cast<size_t>(WarpState::memory)], 2.25 / 7.25, 1e-6);
  EXPECT_EQ(state_shares(made_up_clocks()), StateShares{}) << "no state was measured";
}

}  // namespace
}  // namespace attnscope::charts
