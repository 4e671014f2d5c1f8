#include "charts/leaderboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/ceilings.h"
#include "model/roofline.h"

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LeaderboardTest : public testing::Test {
 protected:
  Observation timed(const std::string& kernel, double us, double half = 0.01) {
    Observation run;
    run.experiment.kernel = run.hash = kernel;
    run.experiment.device = run.device = "cuda:0";
    run.versions = {"1.0", "13.0", "580", "H200"};
    run.verdict.emplace().state = VerdictState::correct;
    Timing& timing = run.timing.emplace();
    timing.kind = FigureKind::measured;
    timing.p50 = us;
    timing.interval_low = us * (1 - half);
    timing.interval_high = us * (1 + half);
    return run;
  }
  static Observation racy(Observation run) {
    run.watch.emplace().findings.push_back(
        {Rule::named("race.shared"), Severity::error, "a race on S", {}, {}, {}, {}});
    return run;
  }
  void add(Observation run) { runs_.push_back({std::make_shared<const Observation>(std::move(run)), ++clock_}); }
  std::vector<Leaderboard> boards(size_t most = 0) const {
    return leaderboards(
        runs_, [this](const Observation&) { return spec_; }, most);
  }
  std::vector<std::string> ranked() const {
    std::vector<std::string> all;
    const auto made = boards();
    for (const Leader& one : made.at(0).leaders)
      all.push_back(std::to_string(one.rank) + (one.tie ? "= " : " ") + one.of.run->experiment.kernel);
    return all;
  }
  std::vector<std::string> unranked() const {
    std::vector<std::string> all;
    const auto made = boards();
    for (const Unranked& one : made.at(0).unranked) all.push_back(one.why + ": " + one.reason);
    return all;
  }
  std::vector<std::string> records() const {
    std::vector<std::string> all;
    const auto made = boards();
    for (const DatedRun& one : made.at(0).records) all.push_back(one.run->experiment.kernel);
    return all;
  }

  std::vector<DatedRun> runs_;
  double clock_ = 0;
  std::optional<DeviceSpec> spec_;
};

// As in the rounds of a halving.
TEST_F(LeaderboardTest, OfExperimentsThatDifferInTheirTimeTheLongestTimedCounts) {
  Observation usual = timed("a", 10), shorter = timed("a", 11);
  usual.hash = hash_of(usual.experiment);
  shorter.experiment.measure.max_time_ms = 30;
  shorter.hash = hash_of(shorter.experiment);
  add(usual);
  add(shorter);
  EXPECT_THAT(ranked(), ElementsAre("1 a"));
  EXPECT_EQ(boards()[0].leaders[0].of.run->hash, usual.hash);
  add(racy(shorter));
  EXPECT_THAT(ranked(), ElementsAre()) << "a race of one is a race of all";
}

TEST_F(LeaderboardTest, AShortRoundIsNoRecord) {
  Observation lucky = timed("lucky", 5), usual = timed("usual", 10), modelled = timed("modelled", 20);
  lucky.experiment.measure.max_time_ms = 30;
  lucky.hash = hash_of(lucky.experiment);
  for (const Observation& run : {lucky, usual}) add(run);
  EXPECT_THAT(records(), ElementsAre("usual"));
  lucky.timing->sampling.emplace().stopped = Stopped::stable;
  add(lucky);
  EXPECT_THAT(records(), ElementsAre("usual", "lucky")) << "it needed no more time";
  runs_.clear();
  modelled.timing->kind = FigureKind::modelled;
  modelled.experiment.measure.max_time_ms = 30;
  modelled.hash = hash_of(modelled.experiment);
  add(modelled);
  EXPECT_THAT(records(), ElementsAre("modelled")) << "it has no samples";
}

TEST_F(LeaderboardTest, RanksByWhatIsToldApart) {
  add(timed("d", 30));
  add(timed("a", 10));
  add(timed("c", 12));
  add(timed("b", 10.1));
  EXPECT_THAT(ranked(), ElementsAre("1= a", "1= b", "3 c", "4 d"));
  const Leader last = boards()[0].leaders[3];
  EXPECT_DOUBLE_EQ(last.against_first.ratio, 3);
  EXPECT_NEAR(last.ratio_low, 3 * 0.99 / 1.01, 1e-9);
  EXPECT_NEAR(last.ratio_high, 3 * 1.01 / 0.99, 1e-9);
  EXPECT_EQ(boards(2)[0].leaders.size(), 2u);
  ASSERT_EQ(boards(1)[0].leaders.size(), 1u);
  EXPECT_TRUE(boards(1)[0].leaders[0].tie) << "with a row that is cut";
}

TEST_F(LeaderboardTest, ARowBeatsWhatIsToldApartAndSlower) {
  add(timed("d", 30));
  add(timed("a", 10));
  add(timed("c", 10.25));
  add(timed("b", 10.1));
  const Leaderboard board = boards()[0];
  std::vector<size_t> beat_it(4, 0);
  std::vector<std::string> pairs;
  for (size_t row = 0; row < 4; ++row)
    for (const Beaten& one : beaten_by(board, row)) {
      ++beat_it[one.row];
      pairs.push_back(board.leaders[row].of.run->hash + board.leaders[one.row].of.run->hash);
      EXPECT_LT(one.low, one.ratio);
      EXPECT_LT(one.ratio, one.high);
    }
  EXPECT_THAT(pairs, ElementsAre("ac", "ad", "bd", "cd")) << "of a and b, and b and c, the intervals overlap";
  for (size_t row = 0; row < 4; ++row) EXPECT_EQ(board.leaders[row].rank, 1 + beat_it[row]);
  const std::vector<Beaten> second = beaten_by(board, 1);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_DOUBLE_EQ(second[0].ratio, 30 / 10.1);
  EXPECT_NEAR(second[0].low, 30 * 0.99 / (10.1 * 1.01), 1e-9);
  EXPECT_NEAR(second[0].high, 30 * 1.01 / (10.1 * 0.99), 1e-9);
}

TEST_F(LeaderboardTest, TheNewestRunOfAnExperimentCounts) {
  add(timed("a", 10));
  add(timed("b", 20));
  add(timed("a", 30));
  EXPECT_THAT(ranked(), ElementsAre("1 b", "2 a"));
}

TEST_F(LeaderboardTest, OnlyCorrectRunsAreRanked) {
  Observation wrong = timed("wrong", 1), failed = timed("failed", 1);
  wrong.verdict->state = VerdictState::wrong;
  wrong.verdict->reason = "row 3";
  failed.timing.reset();
  failed.verdict.reset();
  failed.failure = Failure{Stage::crash, "it died", ""};
  for (const Observation& run : {wrong, racy(timed("racy", 1)), failed, timed("a", 10)}) add(run);
  ASSERT_EQ(boards().size(), 1u) << "what has no time is of the same problem and device";
  EXPECT_THAT(ranked(), ElementsAre("1 a"));
  EXPECT_THAT(unranked(), ElementsAre("wrong: row 3", "race: a race on S", "crash: it died"));
}

TEST_F(LeaderboardTest, ARunWithoutAWatchIsNotRankedAfterARace) {
  add(timed("b", 20));
  add(racy(timed("a", 10)));
  add(timed("a", 10));
  EXPECT_THAT(ranked(), ElementsAre("1 b"));
  EXPECT_THAT(unranked(), ElementsAre("race: a race on S"));
  EXPECT_THAT(records(), ElementsAre("b"));
}

TEST_F(LeaderboardTest, ARunBeforeItsWatchIsNoRecord) {
  add(timed("b", 20));
  add(timed("a", 10));
  add(racy(timed("a", 10)));
  EXPECT_THAT(ranked(), ElementsAre("1 b"));
  EXPECT_THAT(unranked(), ElementsAre("race: a race on S"));
  EXPECT_THAT(records(), ElementsAre("b"));
}

TEST_F(LeaderboardTest, WhatIsWrongNowIsNoRecord) {
  Observation wrong = timed("a", 10);
  wrong.verdict->state = VerdictState::wrong;
  add(timed("a", 10));
  add(wrong);
  add(timed("b", 20));
  EXPECT_THAT(records(), ElementsAre("b"));
}

TEST_F(LeaderboardTest, RanksAreThoseOfEveryPair) {
  for (const FigureKind kind : {FigureKind::measured, FigureKind::modelled}) {
    runs_.clear();
    for (int i = 0; i < 200; ++i) {
      const int at = i * 37 % 200;
      // Some times print the same text, some intervals overlap.
      const double us = kind == FigureKind::measured ? 1000 + at * 0.25 : 10 * std::pow(1.05, at);
      Observation run = timed("k" + std::to_string(i), us, i % 7 * 0.0005);
      run.timing->kind = kind;
      if (kind == FigureKind::modelled && i % 3 > 0) {  // of one kernel, with terms that are more or less alike
        run.experiment.kernel = "one";
        const double share = i % 5 * 0.25 * us;
        run.timing->terms = Terms{{{TermKind::issue, share, {}}, {TermKind::barriers, us - share, {}}}, {}, ""};
      }
      if (i % 11 == 0) {  // a damaged one
        run.timing->interval_low += 5;
        run.timing->interval_high += 5;
      }
      add(run);
    }
    const auto made = boards();
    const std::vector<Leader>& leaders = made.at(0).leaders;
    ASSERT_EQ(leaders.size(), 200u);
    EXPECT_GT(leaders.back().rank, 100u);
    for (size_t at = 0; at < leaders.size(); ++at) {
      size_t rank = 1;
      for (size_t before = 0; before < at; ++before)
        if (standing_of(*leaders[before].of.run, *leaders[at].of.run).outcome == Outcome::slower) ++rank;
      EXPECT_EQ(leaders[at].rank, rank) << leaders[at].of.run->experiment.kernel;
    }
  }
}

TEST_F(LeaderboardTest, RecordsAreWhatBeatAllBefore) {
  add(timed("a", 20));
  add(timed("b", 19.9));  // cannot be told apart
  add(timed("c", 10));
  add(timed("d", 15));
  Observation wrong = timed("e", 1);
  wrong.verdict->state = VerdictState::wrong;
  add(wrong);
  EXPECT_THAT(records(), ElementsAre("a", "c"));
}

TEST_F(LeaderboardTest, ProblemsDevicesAndKindsHaveBoardsOfTheirOwn) {
  add(timed("a", 10));
  Observation other = timed("a", 10);
  other.experiment.problem.seq_q = other.experiment.problem.seq_k = 64;
  add(other);
  Observation modelled = timed("a", 10);
  modelled.timing->kind = FigureKind::modelled;
  add(modelled);
  Observation elsewhere = timed("a", 10);
  elsewhere.versions.gpu = "L4";
  add(elsewhere);
  EXPECT_EQ(boards().size(), 4u);
}

TEST_F(LeaderboardTest, WhatIsFasterThanTheDeviceIsImpossible) {
  spec_.emplace();
  spec_->sms = 100;
  spec_->clock_mhz = 1000;
  spec_->tensor_tflops_f16 = 100;
  Observation run = timed("a", 10);
  const double flop = run.experiment.problem.flops();
  const double floor = flop / 100 * 1e-6;
  EXPECT_DOUBLE_EQ(model::floor_us(*spec_, run.experiment.problem), floor);
  add(timed("possible", floor * 1.01));
  add(timed("impossible", floor * 0.99));
  EXPECT_THAT(ranked(), ElementsAre("1 possible"));
  ASSERT_EQ(boards()[0].unranked.size(), 1u);
  EXPECT_EQ(boards()[0].unranked[0].why, "impossible");
  EXPECT_TRUE(boards()[0].unranked[0].impossible);
  EXPECT_THAT(boards()[0].unranked[0].reason, HasSubstr("data sheet"));
  EXPECT_EQ(boards()[0].records.size(), 1u);
}

TEST_F(LeaderboardTest, TheFloorCountsOnlyKeysThatAMaskShows) {
  spec_.emplace();
  spec_->tensor_tflops_f16 = 100;
  Problem problem;
  problem.seq_q = problem.seq_k = 4;
  const double full = model::floor_us(*spec_, problem);
  problem.causal = Causal::bottom_right;
  EXPECT_DOUBLE_EQ(model::floor_us(*spec_, problem), full * 10 / 16);
  problem.causal = Causal::top_left;
  problem.seq_k = 8;
  EXPECT_DOUBLE_EQ(model::floor_us(*spec_, problem), full * 10 / 16);
  EXPECT_EQ(model::floor_us(DeviceSpec{}, problem), 0);
}

// A launch finds what the one before left in the L2: of 134 MB of K and V, 50 at most.
TEST_F(LeaderboardTest, TheFloorFetchesOnlyWhatTheL2CannotHold) {
  spec_.emplace();
  spec_->dram_gbs = 1000;
  spec_->l2_mb = 50;
  Problem problem;
  problem.seq_q = 1;
  problem.seq_k = 65536;
  const double bytes = model::compulsory_bytes(problem);
  EXPECT_GT(bytes, 134e6);
  EXPECT_NEAR(model::floor_us(*spec_, problem), (bytes - 50e6) * 1e-6, 1e-9);
  spec_->l2_mb = 134;
  EXPECT_LT(model::floor_us(*spec_, problem), 1) << "a little more than the L2 holds takes little";
  spec_->l2_mb = 200;
  EXPECT_EQ(model::floor_us(*spec_, problem), 0);
}

TEST_F(LeaderboardTest, TheFloorOfAGemmIsThatOfFourBits) {
  spec_.emplace();
  spec_->tensor_tflops_f16 = 100;
  Problem problem;
  problem.kind = ProblemKind::gemm;
  problem.sizes = {{"M", 128}, {"N", 256}, {"K", 512}};
  EXPECT_DOUBLE_EQ(model::floor_us(*spec_, problem), problem.flops() / 400 * 1e-6);
}

}  // namespace
}  // namespace attnscope::charts
