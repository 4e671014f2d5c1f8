#include "sweep/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace attnscope::sweep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TrialsTest : public testing::Test {
 protected:
  TrialsTest() {
    kernel_.knobs.push_back({"K", {{1, "one"}, {2, ""}, {4, ""}, {8, ""}}, 1, ""});
    space_.axes = {{"K", {1, 2, 4, 8}}, {"maxrregcount", {0, 64}, true}};
  }
  void add(int64_t value, double us, VerdictState state = VerdictState::correct, int registers = 32) {
    Observation run;
    Timing& timing = run.timing.emplace();
    timing.kind = FigureKind::measured;
    timing.p50 = us;
    timing.interval_low = us * 0.99;
    timing.interval_high = us * 1.01;
    run.verdict.emplace().state = state;
    run.variant.emplace().registers = registers;
    add(value, run);
  }
  void add(int64_t value, std::optional<Observation> run) {
    ScanPoint point;
    point.value.label = "K=" + std::to_string(value);
    point.config.knobs["K"] = value;
    if (run) point.observation = std::make_shared<Observation>(*run);
    scan_.points.push_back(std::move(point));
  }
  Trials trials() const { return trials_of(scan_, space_, kernel_); }
  const TrialColumn& column(const Trials& trials, const char* name) const {
    return *std::ranges::find(trials.columns, name, &TrialColumn::name);
  }
  std::vector<std::string> ranks() const {
    std::vector<std::string> all;
    for (const Trial& trial : trials().rows)
      all.push_back(std::to_string(trial.rank) + (trial.tie ? "= " : " ") + trial.text);
    return all;
  }

  Kernel kernel_;
  search::Space space_;
  Scan scan_;
};

TEST_F(TrialsTest, TheFastestFirstTiesAsTiesAndWhatCannotWinLast) {
  add(1, 1, VerdictState::wrong);
  add(2, 20);
  add(4, 10.1);
  add(8, 10);
  add(2, std::nullopt);  // waits
  EXPECT_THAT(ranks(), ElementsAre("1 K=8 maxrregcount=0", "1= K=4 maxrregcount=0", "3 K=2 maxrregcount=0",
                                   "0 K=one maxrregcount=0"));
  EXPECT_EQ(trials().rows[0].point, 3u);
  EXPECT_EQ(trials().rows[3].point, 0u);
  EXPECT_EQ(trials().rows[3].verdict, "wrong");
}

TEST_F(TrialsTest, ATwinHasTheTimeOfTheOneThatRan) {
  add(1, 10);
  add(2, std::nullopt);
  scan_.points[1].same_as = 0;
  const Trials all = trials();
  ASSERT_EQ(all.rows.size(), 2u);
  EXPECT_EQ(all.rows[1].same_as, "K=1");
  EXPECT_THAT(column(all, "time").values, ElementsAre(10, 10));
}

TEST_F(TrialsTest, AKnobHasPositionsAndAFigureItsValues) {
  add(8, 10, VerdictState::correct, 40);
  add(1, 30, VerdictState::correct, 80);
  Observation failed;
  failed.failure = Failure{Stage::compile, "no", ""};
  add(2, failed);
  const Trials all = trials();
  const TrialColumn &knob = column(all, "K"), &time = column(all, "time");
  EXPECT_THAT(knob.values, ElementsAre(3, 0, 1));
  EXPECT_TRUE(knob.is_knob());
  EXPECT_EQ(knob.text(0), "one");
  EXPECT_EQ(knob.most, 3);
  EXPECT_THAT(column(all, "maxrregcount").labels, ElementsAre("0", "64"));
  EXPECT_EQ(time.least, 10);
  EXPECT_EQ(time.most, 30);
  EXPECT_TRUE(std::isnan(time.values[2]));
  EXPECT_EQ(time.text(time.values[2]), "");
  EXPECT_EQ(column(all, "registers").text(80), "80");
}

TEST_F(TrialsTest, AnErrorIsThatOfAJudgedOutput) {
  for (const auto& [value, state, error] :
       {std::tuple(1, VerdictState::correct, 0.001), std::tuple(2, VerdictState::unchecked, 0.5)}) {
    Observation run;
    run.timing.emplace().p50 = 10;
    Verdict& verdict = run.verdict.emplace();
    verdict.state = state;
    verdict.rel_frobenius = error;
    add(value, run);
  }
  const Trials all = trials();
  std::vector<double> errors = column(all, "rel. error").values;
  std::erase_if(errors, [](double value) { return std::isnan(value); });
  EXPECT_THAT(errors, ElementsAre(0.001));
}

TEST_F(TrialsTest, AnAxisIsLogarithmicWhereItsValuesSpanMoreThanTen) {
  add(1, 10);
  add(2, 50);
  EXPECT_DOUBLE_EQ(column(trials(), "time").share(30), 0.5);
  add(4, 1000);
  const Trials all = trials();
  const TrialColumn& time = column(all, "time");
  EXPECT_TRUE(time.logarithmic());
  EXPECT_NEAR(time.share(100), 0.5, 1e-9);
  EXPECT_NEAR(time.at(time.share(123)), 123, 1e-6);
}

TEST_F(TrialsTest, BrushesKeepWhatLiesInAllOfThem) {
  add(1, 10);
  add(2, 20);
  add(4, 30);
  Observation failed;
  failed.failure = Failure{Stage::compile, "no", ""};
  add(8, failed);
  const Trials all = trials();
  const size_t knob = 0, time = 2;
  ASSERT_EQ(all.columns[time].name, "time");
  EXPECT_EQ(brushed(all, {}).size(), 4u);
  EXPECT_THAT(brushed(all, {{time, 10, 20}}), ElementsAre(0u, 1u)) << "ends are in it";
  EXPECT_THAT(brushed(all, {{time, 0, 1e9}}), ElementsAre(0u, 1u, 2u)) << "what has no time is in no brush of it";
  EXPECT_THAT(brushed(all, {{time, 15, 40}, {knob, 0, 1}}), ElementsAre(1u));
  EXPECT_THAT(brushed(all, {{knob, 0, 0}, {time, 15, 40}}), IsEmpty());
}

}  // namespace
}  // namespace attnscope::sweep
