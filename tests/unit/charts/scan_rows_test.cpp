#include "charts/scan_rows.h"

#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

class ScanRowsTest : public testing::Test {
 protected:
  ScanRowsTest() { scan_.held.config.knobs = {{"K", 4}, {"L", 4}}; }
  // Its interval is ±1 %.
  Observation& add(int64_t value, double us, FigureKind kind = FigureKind::measured) {
    auto made = std::make_shared<Observation>();
    made->verdict.emplace().state = VerdictState::correct;
    made->timing.emplace().kind = kind;
    made->timing->p50 = us;
    made->timing->interval_low = us * 0.99;
    made->timing->interval_high = us * 1.01;
    scan_.points.push_back({"K", {value, ""}, value == 4, {}, {}, {}, made, {}});
    return *made;
  }
  ScanPoint& last() { return scan_.points.back(); }
  ScanSeries series() const { return scan_series(scan_).at(0); }

  Scan scan_;
};

TEST_F(ScanRowsTest, TheFastestIsBestAndOverlappingIntervalsTie) {
  add(1, 200);
  add(4, 150);
  add(8, 101);
  add(16, 100);
  const ScanSeries seen = series();
  EXPECT_EQ(seen.best, 3u);
  EXPECT_TRUE(seen.rows[3].best);
  EXPECT_TRUE(seen.rows[2].tie);
  EXPECT_FALSE(seen.rows[1].tie);
  EXPECT_FALSE(seen.rows[3].tie);
  EXPECT_EQ(seen.least, 100);
  EXPECT_EQ(seen.most, 200);
  EXPECT_EQ(best_sentence(seen),
            "8 and 16 are fastest and cannot be told apart, \u221233.3 % against the current value")
      << best_sentence(seen);
  EXPECT_EQ(seen.rows[0].change->outcome, Outcome::slower);
  EXPECT_FALSE(seen.rows[1].change) << "the current value is not compared with itself";
}

TEST_F(ScanRowsTest, TheCurrentValueMayBeBest) {
  add(4, 100);
  add(8, 150);
  EXPECT_EQ(best_sentence(series()), "4 is fastest, and the current value");
  add(16, 100.5);
  EXPECT_EQ(best_sentence(series()), "4 and 16 are fastest and cannot be told apart; one is the current value");
}

TEST_F(ScanRowsTest, WhatCannotBeReliedOnIsNeverBest) {
  add(4, 150);
  add(1, 10).verdict->state = VerdictState::wrong;
  add(2, 20);
  last().warnings = {"a race"};
  Finding race;
  race.severity = Severity::error;
  race.rule = RuleId::race_shared;
  race.sentence = "Two warps meet.";
  add(8, 30).watch.emplace().findings = {race};
  const ScanSeries seen = series();
  EXPECT_EQ(seen.best, 0u);
  EXPECT_EQ(seen.rows[1].state, ScanState::faulty);
  EXPECT_EQ(seen.rows[1].verdict, "wrong");
  EXPECT_EQ(seen.rows[2].state, ScanState::timed);
  EXPECT_EQ(seen.rows[2].warning, "a race");
  EXPECT_EQ(seen.rows[3].state, ScanState::faulty);
  EXPECT_EQ(seen.rows[3].verdict, "race");
  EXPECT_EQ(seen.rows[3].reason, "Two warps meet.");
  EXPECT_TRUE(seen.rows[1].us) << "a wrong run's time is still shown";
}

TEST_F(ScanRowsTest, AgreementWithAnotherKernelIsSaidAndMayBeBest) {
  add(4, 150);
  add(8, 100).verdict->against = "naive";
  const ScanSeries seen = series();
  EXPECT_EQ(seen.best, 1u);
  EXPECT_EQ(seen.rows[0].verdict, "correct");
  EXPECT_EQ(seen.rows[1].verdict, "agrees");
}

TEST_F(ScanRowsTest, HowManyRowsWereCheckedIsSaidUnlessAllWere) {
  for (const int64_t checked : {736, 4096}) {
    Verdict& verdict = *add(checked, 100).verdict;
    verdict.rows_checked = checked;
    verdict.rows_total = 4096;
  }
  EXPECT_EQ(series().rows[0].checked, "736 of 4,096 rows checked");
  EXPECT_EQ(series().rows[1].checked, "");
}

TEST_F(ScanRowsTest, ARefusalIsToldFromARunThatFailed) {
  scan_.points.push_back({"K", {4, "four"}, true, {}, Failure{Stage::limits, "too much", "Set X."}, {}, nullptr, {}});
  const auto fails = [&](int64_t value, Stage stage) {
    Observation& run = add(value, 1);
    run.timing.reset();
    run.verdict.reset();
    run.failure = Failure{stage, "no", "do"};
  };
  fails(8, Stage::compile);
  fails(16, Stage::crash);
  const ScanSeries seen = series();
  EXPECT_EQ(seen.rows[0].state, ScanState::refused);
  EXPECT_EQ(seen.rows[0].text, "four");
  EXPECT_EQ(seen.rows[0].reason, "too much");
  EXPECT_EQ(seen.rows[0].hint, "Set X.");
  EXPECT_EQ(seen.rows[1].state, ScanState::refused);
  EXPECT_EQ(seen.rows[2].state, ScanState::failed);
  EXPECT_EQ(seen.rows[2].verdict, "crash");
  EXPECT_FALSE(seen.best);
  EXPECT_EQ(best_sentence(seen), "no value is correct");
}

TEST_F(ScanRowsTest, EqualCodeHasTheTimeOfItsTwinAndTies) {
  add(4, 100);
  add(8, 999);
  last().same_as = 0;
  const ScanSeries seen = series();
  EXPECT_EQ(seen.rows[1].us, 100);
  EXPECT_EQ(seen.rows[1].same_as, "K=4");
  EXPECT_TRUE(seen.rows[1].tie);
}

TEST_F(ScanRowsTest, AConfigOfAListIsNamedByItsText) {
  add(4, 100);
  add(8, 999);
  for (ScanPoint& point : scan_.points) point.knob = "";
  scan_.points[0].value.label = "K=4 L=1";
  scan_.points[0].current = false;
  last().same_as = 0;
  last().current = true;  // the held config is one of the list
  EXPECT_EQ(series().rows[1].same_as, "K=4 L=1");
  EXPECT_EQ(series().rows[0].text, "K=4 L=1");
}

TEST_F(ScanRowsTest, AnotherValueMayBeTheCurrentOneNow) {
  add(4, 100);
  add(8, 50);
  Config now;
  now.knobs = {{"K", 8}};
  const ScanSeries seen = scan_series(scan_, &now).at(0);
  EXPECT_FALSE(seen.rows[0].current);
  EXPECT_TRUE(seen.rows[1].current);
  EXPECT_DOUBLE_EQ(seen.rows[0].change->ratio, 2);
  EXPECT_EQ(best_sentence(seen), "8 is fastest, and the current value");
}

TEST_F(ScanRowsTest, SaysNothingOfTheBestWhileValuesWait) {
  add(4, 100);
  scan_.points.push_back({"K", {8, ""}, false, {}, {}, {}, nullptr, {}});
  EXPECT_FALSE(series().over());
  EXPECT_EQ(series().rows[1].state, ScanState::waiting);
  EXPECT_EQ(best_sentence(series()), "");
}

TEST_F(ScanRowsTest, EachKnobHasItsOwnBest) {
  add(4, 100);
  add(8, 50);
  scan_.points.push_back(scan_.points[0]);
  scan_.points.back().knob = "L";
  scan_.points.back().same_as = 0;
  const auto all = scan_series(scan_);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].best, 1u);
  EXPECT_EQ(all[1].best, 0u);
  EXPECT_EQ(all[1].rows[0].same_as, "") << "the current value is itself";
  add(9, 100);
  last().knob = "L";
  last().same_as = 0;
  EXPECT_EQ(scan_series(scan_)[1].rows[1].same_as, "L=4") << "by its own knob";
}

}  // namespace
}  // namespace attnscope::charts
