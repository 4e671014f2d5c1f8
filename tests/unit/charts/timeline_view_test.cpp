#include "charts/timeline_view.h"

#include <gtest/gtest.h>

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

TEST(TimelineView, SharesAreOfTheClocksWithWarps) {
  const StateShares shares = state_shares(made_up_timeline());
  EXPECT_NEAR(shares[static_cast<size_t>(WarpState::memory)], 2.25 / 7.25, 1e-6);
  EXPECT_EQ(state_shares(made_up_clocks()), StateShares{}) << "no state was measured";
}

}  // namespace
}  // namespace attnscope::charts
