#include "charts/latency_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;

LatencyChart chart_of(const std::vector<double>& times) {
  std::vector<Run> runs;
  for (const double us : times) {
    auto seen = std::make_shared<Observation>();
    seen->timing = Timing{};
    seen->timing->p10 = seen->timing->p50 = seen->timing->p90 = us;
    seen->timing->interval_low = seen->timing->interval_high = us;
    runs.push_back({runs.size() + 1, seen, "", ""});
  }
  LatencyChart chart;
  append(chart, runs);
  return chart;
}

// A time's position on the axis: 0 its foot, 1 its end.
double place(const LatencyAxis& axis, double us) {
  return axis.log ? std::log(us / axis.low) / std::log(axis.high / axis.low) : (us - axis.low) / (axis.high - axis.low);
}

TEST(LatencyAxis, IsLogarithmicByItselfWhereTimesSpanMoreThanTen) {
  EXPECT_FALSE(latency_axis(chart_of({1000, 100}), AxisChoice::automatic, 0.2).log);
  EXPECT_TRUE(latency_axis(chart_of({1143, 14}), AxisChoice::automatic, 0.2).log);
  EXPECT_FALSE(latency_axis(chart_of({1143, 14}), AxisChoice::linear, 0.2).log);
  EXPECT_TRUE(latency_axis(chart_of({1143}), AxisChoice::logarithmic, 0.2).log);
  EXPECT_FALSE(latency_axis({}, AxisChoice::automatic, 0.2).log);
}

TEST(LatencyAxis, AFastRungAfterASlowOneDoesNotLieOnTheFoot) {
  const LatencyAxis axis = latency_axis(chart_of({2870, 1143, 14}), AxisChoice::automatic, 0.2);
  EXPECT_GT(place(axis, 14), 0.05);
  EXPECT_LT(place(axis, 14), 0.25);
  EXPECT_GT(place(axis, 1143) - place(axis, 14), 0.3);
}

TEST(LatencyAxis, LeavesTheRoomForNamesThatWasAskedFor) {
  for (const AxisChoice choice : {AxisChoice::linear, AxisChoice::logarithmic}) {
    const LatencyAxis axis = latency_axis(chart_of({2870, 1143, 14}), choice, 0.3);
    EXPECT_LE(place(axis, 2870), 0.7);
    EXPECT_GT(place(axis, 2870), 0.6);
  }
}

TEST(LatencyAxis, MarksAreRoundFewAndBelowTheNames) {
  EXPECT_THAT(axis_marks(latency_axis(chart_of({900}), AxisChoice::linear, 0.2), 5),
              ElementsAre(0, 200, 400, 600, 800));
  EXPECT_THAT(axis_marks({true, 10, 4000, 1200}, 10), ElementsAre(10, 20, 50, 100, 200, 500, 1000));
  EXPECT_THAT(axis_marks({true, 10, 4000, 1200}, 4), ElementsAre(10, 100, 1000));
  EXPECT_LE(axis_marks({true, 1e-3, 1e9, 1e8}, 3).size(), 3u);
  EXPECT_EQ(mark_text(0), "0");
  EXPECT_EQ(mark_text(0.5), "0.5");
  EXPECT_EQ(mark_text(2000), "2,000");
}

TEST(LatencyAxis, NoTwoMarksOfALinearAxisAreCalledAlike) {
  for (double top = 0.013; top < 1e7; top *= 1.07)
    for (const size_t most : {3u, 6u, 10u, 14u}) {
      std::set<std::string> words;
      const auto marks = axis_marks({false, 0, top, top}, most);
      for (const double mark : marks) {
        words.insert(mark_text(mark));
        std::string plain = mark_text(mark);
        std::erase(plain, ',');
        EXPECT_NEAR(std::stod(plain), mark, 1e-9 * top) << top;
      }
      EXPECT_EQ(words.size(), marks.size()) << top << " " << most;
      EXPECT_THAT(marks.size(), testing::AllOf(testing::Ge(2u), testing::Le(most + 1)));
    }
}

TEST(LatencyAxis, AReportedFigureBeyondTheAxisIsPinnedToItsEdge) {
  const std::vector<Reported> lines = {{2870, "minimal", "", "", false},
                                       {839, "W8", "", "", true},
                                       {0, "none", "", "", false},
                                       {1, "fast", "", "", false}};
  const auto rug = reported_rug(lines, {true, 10, 2000, 1200});
  ASSERT_EQ(rug.size(), 3u);
  EXPECT_EQ(rug[0].us, 2000);
  EXPECT_EQ(rug[0].beyond, 1);
  EXPECT_EQ(rug[1].us, 839);
  EXPECT_EQ(rug[1].beyond, 0);
  EXPECT_EQ(rug[2].beyond, -1);
  // Reported figures do not change the axis, so they never flatten the columns of measured times.
  EXPECT_EQ(latency_axis(chart_of({14}), AxisChoice::automatic, 0.2).top, 14);
}

TEST(LatencyAxis, OfThirtyRunsOnlyTheWantedOnesAreNamed) {
  const LatencyChart chart = chart_of(std::vector<double>(30, 1000));
  EXPECT_THAT(named_columns(chart, 0, 30, 0), ElementsAre(29));
  EXPECT_THAT(named_columns(chart, 4, 30, 12), ElementsAre(3, 29, 11));
  EXPECT_THAT(named_columns(chart, 30, 30, 30), ElementsAre(29));
  EXPECT_THAT(named_columns(chart, 0, 99, 0), ElementsAre());
  EXPECT_THAT(named_columns(chart, 1, 2, 1), ElementsAre(0, 1));  // the oldest one too
  EXPECT_THAT(named_columns(chart, 0, 0, 0), ElementsAre());
}

TEST(PlaceLabels, NeverOverprintAndStayInside) {
  const std::vector<LabelWish> wishes = {{95, 40}, {80, 40}, {20, 30}, {90, 60}};
  const auto places = place_labels(wishes, 0, 100, 4, 2);
  ASSERT_TRUE(places[0] && places[1] && places[2]);
  EXPECT_EQ(places[0]->left, 60);  // moved in from the edge
  EXPECT_EQ(places[0]->row, 0);
  EXPECT_EQ(places[1]->row, 1);  // it would touch the first
  EXPECT_EQ(places[2]->row, 0);
  EXPECT_FALSE(places[3]);  // no row is free
}

}  // namespace
}  // namespace attnscope::charts
