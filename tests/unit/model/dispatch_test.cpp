// Which CTAs an SM gets, compared with grids that can be dispatched by hand.
#include "model/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

using testing::ElementsAre;

// CTAs of one warp with `lengths` instructions, traced at these places along x.
KernelSchedule traced(const std::vector<std::pair<int64_t, size_t>>& lengths) {
  KernelSchedule s = schedule({{instruction(Unit::fp32)}}, {{}});
  s.traces.clear();
  for (const auto& [x, length] : lengths) s.traces.push_back({x, {std::vector<Visit>(length, Visit{0, 32})}});
  return s;
}

LaunchShape grid(int64_t x, int64_t y = 1) { return {{x, y, 1}, {32, 1, 1}}; }

TEST(Dispatch, APlaceAlongXTakesTheNearestTrace) {
  const KernelSchedule s = traced({{0, 1}, {4, 5}, {8, 9}});
  EXPECT_THAT(trace_along_x(s, grid(9)), ElementsAre(0, 0, 0, 1, 1, 1, 1, 2, 2));
  EXPECT_THAT(instructions_of(s), ElementsAre(1, 5, 9));
  // CTA 13 of a grid that is nine wide is x = 4 of its second row.
  EXPECT_THAT(trace_along_x(traced({{0, 1}, {13, 5}}), grid(9, 2)), ElementsAre(0, 0, 0, 1, 1, 1, 1, 1, 1));
}

TEST(Dispatch, BetweenTwoTracedCtasInstructionsGoOnAStraightLine) {
  EXPECT_THAT(instructions_along_x(traced({{1, 1}, {5, 9}}), grid(8)), ElementsAre(1, 1, 3, 5, 7, 9, 9, 9));
  // Of the four CTAs on one SM, two lie between traced ones: they have 3 and 5 instructions, and traces of 1 and 7
  // stand for them.
  const Dispatched out = dispatch(traced({{0, 1}, {3, 7}}), grid(4), 1, 1);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(out.sms[0].work, 16);
  EXPECT_EQ(out.sms[0].scale, 1);
  // A traced CTA is as long as its trace, whatever the length of the others.
  EXPECT_EQ(dispatch(traced({{0, 9}, {3, 1}}), grid(4), 4, 1).sms[0].scale, 1);
}

// The second CTA has 4 instructions, and a trace of 7 stands for it; the first takes its own 7 in any case.
TEST(Dispatch, AShorterNeighbourMakesTheLongestCtaNoShorter) {
  const Dispatched out = dispatch(traced({{0, 7}, {2, 1}}), grid(3), 1, 3);
  ASSERT_EQ(out.sms.size(), 2U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(0, 0, 1));
  EXPECT_EQ(out.sms[0].scale, 12.0 / 15);
  EXPECT_THAT(out.sms[1].ctas, ElementsAre(0));
  EXPECT_EQ(out.sms[1].scale, 1);
}

TEST(Dispatch, EachSmGetsOneBeforeAnyGetsTwo) {
  const Dispatched out = dispatch(traced({{0, 1}, {1, 10}}), grid(2, 3), 4, 2);
  EXPECT_EQ(out.ctas, 6);
  ASSERT_EQ(out.sms.size(), 1U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(1, 1)) << "CTAs 1 and 5";
}

TEST(Dispatch, AFreePlaceTakesTheNext) {
  // Short, long, short, long… on two places: the long one takes the second, the following ones take the first.
  const Dispatched out = dispatch(traced({{0, 1}, {1, 10}}), grid(2, 3), 2, 1);
  ASSERT_EQ(out.sms.size(), 1U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(1, 0, 1)) << "1, 4 and 5, done at 21; 0, 2 and 3 at 12";
}

TEST(Dispatch, OfOneWaveTheLongestCtaMayDecideToo) {
  // SM 0 has the longest CTA, SM 1 has two that take longer together.
  const Dispatched out = dispatch(traced({{0, 10}, {1, 8}, {2, 1}, {3, 8}}), grid(4), 2, 2);
  ASSERT_EQ(out.sms.size(), 2U);
  EXPECT_THAT(out.sms[0].ctas, ElementsAre(1, 3));
  EXPECT_THAT(out.sms[1].ctas, ElementsAre(0, 2));
}

TEST(Dispatch, AVeryLargeGridIsHandedOutInWholeRows) {
  const LaunchShape launch = grid(1000, 4000);
  const Dispatched out = dispatch(traced({{0, 1}, {999, 3}}), launch, 10, 4);
  EXPECT_EQ(out.ctas, 262'000);
  EXPECT_NEAR(out.sms[0].work, 262'000 * 2 / 10, 4) << "evenly, except for one CTA";
}

}  // namespace
}  // namespace attnscope::model
