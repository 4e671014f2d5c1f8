#include "sweep/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::sweep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Observation timed(double us, double half = 0.01) {
  Observation o;
  o.experiment.device = o.device = "box/gpu";
  o.versions = {"1.0", "13.0", "580", "H200"};
  Timing& timing = o.timing.emplace();
  timing.kind = FigureKind::measured;
  timing.p50 = us;
  timing.interval_low = us * (1 - half);
  timing.interval_high = us * (1 + half);
  o.verdict.emplace().state = VerdictState::correct;
  return o;
}

class BoardTest : public testing::Test {
 protected:
  // Finds a config by the name of its knob's value.
  void add(int64_t value, std::optional<Observation> run, std::optional<size_t> same_as = {}) {
    ScanPoint point;
    point.value.label = "K=" + std::to_string(value);
    point.config.knobs["K"] = value;
    if (run) point.observation = std::make_shared<Observation>(std::move(*run));
    point.same_as = same_as;
    scan_.points.push_back(std::move(point));
  }
  Board board(const std::vector<search::Excluded>& excluded = {}) const { return board_of(scan_, excluded, kernel_); }
  std::vector<std::string> ranked() const {
    std::vector<std::string> names;
    for (const charts::ScanRow& row : board().rows) names.push_back(row.text + (row.tie ? " tie" : ""));
    return names;
  }

  Kernel kernel_;
  Scan scan_;
};

TEST_F(BoardTest, RanksWhatIsCorrectWithTiesAsTies) {
  add(1, timed(20));
  add(2, timed(10.1));
  add(3, timed(10));
  EXPECT_THAT(ranked(), ElementsAre("K=3", "K=2 tie", "K=1"));
}

TEST_F(BoardTest, WhatIsNotCorrectIsRejectedHoweverFast) {
  add(1, timed(10));
  Observation wrong = timed(1);
  wrong.verdict->state = VerdictState::wrong;
  wrong.verdict->reason = "row 3";
  add(2, wrong);
  Observation unchecked = timed(1);
  unchecked.verdict->state = VerdictState::unchecked;
  unchecked.verdict->reason = "no reference";
  add(3, unchecked);
  Observation racy = timed(1);
  racy.watch.emplace().findings.push_back({Rule::named("race.shared"), Severity::error, "a race on S", {}, {}, {}, {}});
  add(4, racy);
  Observation hung;
  hung.failure = Failure{Stage::deadline, "no progress", "look"};
  add(5, hung);
  EXPECT_THAT(ranked(), ElementsAre("K=1"));
  std::vector<std::string> reasons;
  for (const Rejected& one : board().rejected) reasons.push_back(one.config + " " + one.why + ": " + one.reason);
  EXPECT_THAT(reasons, ElementsAre("K=2 wrong: row 3", "K=3 unchecked: no reference", "K=4 race: a race on S",
                                   "K=5 deadline: no progress"));
}

TEST_F(BoardTest, ATwinHasTheTimeAndTheFateOfTheOneThatRan) {
  Observation wrong = timed(1);
  wrong.verdict->state = VerdictState::wrong;
  add(1, wrong);
  add(2, timed(10));
  add(3, Observation{}, 1);
  add(4, Observation{}, 0);
  EXPECT_THAT(ranked(), ElementsAre("K=2", "K=3 tie"));
  EXPECT_EQ(board().rows[1].same_as, "K=2");
  ASSERT_EQ(board().rejected.size(), 2u);
  EXPECT_EQ(board().rejected[1].config, "K=4");
  EXPECT_EQ(board().rejected[1].why, "wrong");
  EXPECT_THAT(leaders_of(scan_), ElementsAre(1u)) << "one machine code is watched once";
}

TEST_F(BoardTest, TheFastestAndItsTiesLead) {
  add(1, timed(20));
  add(2, timed(10.1));
  add(3, timed(10));
  EXPECT_THAT(leaders_of(scan_), ElementsAre(1u, 2u));
  scan_.points.clear();
  EXPECT_THAT(leaders_of(scan_), IsEmpty());
}

}  // namespace
}  // namespace attnscope::sweep
