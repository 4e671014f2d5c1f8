#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace attnscope::measure {
namespace {

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const std::vector<double> samples{1, 2, 4, 8};
  EXPECT_EQ(quantile(samples, 0), 1);
  EXPECT_EQ(quantile(samples, 0.5), 3);
  EXPECT_EQ(quantile(samples, 1), 8);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 1.75);
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(median({5, 1, 3}), 3);
}

TEST(Intervals, HoldBothTheirEnds) {
  const Interval one{2, 4};
  EXPECT_TRUE(one.contains(2));
  EXPECT_TRUE(one.contains(4));
  EXPECT_FALSE(one.contains(1.999));
  EXPECT_FALSE(one.contains(4.001));
  EXPECT_EQ(one.half_width(), 1);
  EXPECT_EQ(at_least(one, 3, 0.5), one);
  EXPECT_EQ(at_least(one, 3, 1.5), (Interval{1.5, 4.5}));
  EXPECT_EQ(at_least(one, 2, 1), (Interval{1, 4}));
}

// The share of Student's t with n degrees of freedom within ±t, by integrating its density.
double share_within(double t, double n) {
  const double scale = std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(n * std::acos(-1.0));
  const auto density = [&](double x) { return scale * std::pow(1 + x * x / n, -(n + 1) / 2); };
  constexpr int kSteps = 2000;  // Simpson's rule
  double sum = density(0) + density(t);
  for (int i = 1; i < kSteps; ++i) sum += density(t * i / kSteps) * (i % 2 == 1 ? 4 : 2);
  return 2 * sum * t / kSteps / 3;
}

TEST(StudentT, HoldsNinetyFivePercentAndNeverLess) {
  for (const size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 24, 29, 40, 60, 120})
    EXPECT_NEAR(share_within(student_t_95(n), double(n)), 0.95, 1e-4) << n;
  double before = student_t_95(1);
  for (size_t n = 1; n < 130; ++n) {
    EXPECT_GE(share_within(student_t_95(n), double(n)), 0.95 - 1e-4) << n;
    EXPECT_LE(student_t_95(n), before) << n;
    before = student_t_95(n);
  }
}

// Each round draws an offset, as a placement in memory does, and samples around it with a long tail.
Rounds drawn(std::mt19937_64& random, size_t rounds, size_t of_round, double between, double within) {
  std::normal_distribution<double> offset(0, between);
  std::exponential_distribution<double> tail(1 / within);
  Rounds out(rounds);
  for (auto& round : out) {
    const double at = 100 + offset(random);
    for (size_t i = 0; i < of_round; ++i) round.push_back(at + tail(random));
  }
  return out;
}

struct Spread {
  double between, within;
};
class Coverage : public testing::TestWithParam<Spread> {};

// The true median of a single round's expected distribution, from a much longer run of the same kind.
TEST_P(Coverage, TheIntervalHoldsTheTrueMedianNearlyAsOftenAsItSays) {
  const auto [between, within] = GetParam();
  std::mt19937_64 random(7);
  const double truth = quantile(pooled(drawn(random, 20000, 10, between, within)), 0.5);
  int inside = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run)
    inside += bootstrap_median(drawn(random, 10, 12, between, within)).contains(truth);
  // 95 % of 400 is 380; the binomial's 3 sigma below is 367.
  EXPECT_GE(inside, 367);
}

INSTANTIATE_TEST_SUITE_P(Spreads, Coverage, testing::Values(Spread{0.05, 0.05}, Spread{0.2, 0.02}, Spread{0.001, 0.1}));

TEST(BootstrapMedian, IsTheSameEachTime) {
  std::mt19937_64 random(1);
  const Rounds rounds = drawn(random, 10, 12, 0.1, 0.1);
  EXPECT_EQ(bootstrap_median(rounds), bootstrap_median(rounds));
}

TEST(BootstrapMedian, OneRoundSaysNothingBeyondItsRange) {
  EXPECT_EQ(bootstrap_median({{3, 1, 2}}), (Interval{1, 3}));
  EXPECT_EQ(bootstrap_median({}), (Interval{0, 0}));
  EXPECT_EQ(bootstrap_median({{}, {5}}), (Interval{5, 5}));
}

TEST(BootstrapMedian, OfTwoRoundsAlikeItIsTheirMedian) {
  EXPECT_EQ(bootstrap_median({{1, 10, 19}, {1, 10, 19}}), (Interval{10, 10}));
  // An even number of samples gives the mean of the middle two; a round that was drawn twice counts twice.
  EXPECT_EQ(bootstrap_median({{1, 3}, {1, 3}}), (Interval{2, 2}));
  const Interval apart = bootstrap_median({{1, 1, 1}, {3, 3, 3}});
  EXPECT_EQ(apart, (Interval{1, 3}));
}

std::vector<Block> blocks(std::mt19937_64& random, int count, double ratio, double noise) {
  std::normal_distribution<double> error(0, noise);
  std::vector<Block> out;
  for (int i = 0; i < count; ++i) {
    const double drift = 100 + i;  // affects both times of a block
    out.push_back({drift * ratio * (1 + error(random)), drift * (1 + error(random))});
  }
  return out;
}

TEST(CompareBlocks, AnEqualPairIsATieAndTwoPercentIsNot) {
  std::mt19937_64 random(3);
  int ties = 0, told_apart = 0;
  for (int i = 0; i < 200; ++i) {
    ties += compare_blocks(blocks(random, 12, 1.0, 0.003)).tie();
    const Comparison slower = compare_blocks(blocks(random, 12, 1.02, 0.003));
    told_apart += !slower.tie() && slower.interval.contains(slower.ratio) && slower.ratio > 1;
  }
  EXPECT_GE(ties, 186);  // 95 % of 200, less some
  EXPECT_EQ(told_apart, 200);
}

TEST(CompareBlocks, NothingIsATie) { EXPECT_TRUE(compare_blocks({}).tie()); }

TEST(CompareRounds, HoldsTheRatioOfTwoRecordings) {
  std::mt19937_64 random(5);
  const Rounds a = drawn(random, 10, 12, 0.1, 0.1);
  Rounds slower = drawn(random, 12, 12, 0.1, 0.1);
  for (auto& round : slower)
    for (double& us : round) us *= 1.02;
  EXPECT_TRUE(compare_rounds(a, a).tie());
  const Comparison c = compare_rounds(slower, a);
  EXPECT_FALSE(c.tie());
  EXPECT_NEAR(c.ratio, 1.02, 0.003);
  EXPECT_EQ(c.blocks, 10);
}

TEST(CompareRounds, OfTwoRoundsAlikeTheMediansDecide) {
  const Rounds rounds{{1, 10, 19}, {1, 10, 19}};
  const Comparison c = compare_rounds(rounds, rounds);
  EXPECT_EQ(c.ratio, 1);
  EXPECT_EQ(c.blocks, 2);
  EXPECT_NEAR(c.interval.half_width(), std::sqrt(2.0) * kBetweenRuns, 1e-12) << "what separate runs differ by";
}

TEST(CompareBlocks, OfOneItIsItsRatio) {
  const Block one[] = {{30, 20}};
  EXPECT_EQ(compare_blocks(one).interval, (Interval{1.5, 1.5}));
  const Block two[] = {{30, 20}, {10, 20}};
  EXPECT_EQ(compare_blocks(two).ratio, 1);
  EXPECT_EQ(compare_blocks(two).interval, (Interval{0.5, 1.5}));
}

TEST(CompareRounds, OfOneRoundEachTheRangeDecides) {
  const Comparison c = compare_rounds({{10, 11}}, {{10, 10.5}});
  EXPECT_TRUE(c.tie());
  EXPECT_DOUBLE_EQ(c.interval.low, 10 / 10.5);
  EXPECT_DOUBLE_EQ(c.interval.high, 1.1);
}

TEST(Thinned, KeepsEveryNthSampleOfEachRound) {
  const Rounds rounds{{1, 2, 3, 4, 5}, {}, {6, 7, 8}};
  EXPECT_EQ(thinned(rounds, 8), rounds);
  EXPECT_EQ(thinned(rounds, 7), (Rounds{{1, 3, 5}, {}, {6, 8}}));
  EXPECT_EQ(thinned(rounds, 2), (Rounds{{1, 5}, {}, {6}}));
  EXPECT_EQ(thinned({{}}, 5), Rounds{{}});
}

}  // namespace
}  // namespace attnscope::measure
