// The sums over the launches of a program.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/observation.h"

namespace attnscope {
namespace {

Timing timed(double us, Bound bound) {
  Timing timing;
  timing.p10 = timing.p50 = timing.p90 = us;
  timing.interval_low = us / 2;
  timing.interval_high = us * 2;
  timing.bound = bound;
  return timing;
}

LaunchFigures launch(const std::string& name, double us, Bound bound) {
  LaunchFigures one;
  one.name = name;
  one.variant.emplace();
  one.counters = Counters{.instructions = {{"total", 10}, {name, 4}},
                          .threads = 100,
                          .shared_wavefronts = 3,
                          .emulated_ctas = 2,
                          .total_ctas = 4};
  one.timing = timed(us, bound);
  one.timing->terms =
      Terms{{{TermKind::issue, us - 2, {{16, name + ".cu:3", us - 2, 32, "", {}}}}, {TermKind::launch, 2, {}}},
            {{name, us - 2, {{TermKind::issue, us - 2}}}, {"launch", 2, {{TermKind::launch, 2}}}},
            ""};
  return one;
}

std::vector<LaunchFigures> program() {
  LaunchFigures memset;
  memset.name = "memset sums";
  memset.timing = timed(3, Bound::l2_bandwidth);
  memset.timing->terms = Terms{{{TermKind::launch, 2, {}}, {TermKind::l2_bandwidth, 1, {}}}, {}, ""};
  return {launch("a", 5, Bound::fp32), memset, launch("b", 9, Bound::barriers), launch("c", 5, Bound::fp32)};
}

TEST(ProgramFigures, TheTimeIsTheSumOfTheSteps) {
  const auto sum = sum_of_timings(program());
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->p50, 22);
  EXPECT_EQ(sum->interval_low, 11);
  EXPECT_EQ(sum->interval_high, 44);
  EXPECT_EQ(sum->bound, Bound::fp32) << "ten of the microseconds, in two launches";
  ASSERT_TRUE(sum->terms);
  double terms = 0;
  for (const Term& one : sum->terms->list) terms += one.us;
  EXPECT_EQ(terms, 22);
  EXPECT_EQ(sum->terms->list.front().kind, TermKind::issue);
  EXPECT_EQ(sum->terms->list.front().us, 13);
  ASSERT_EQ(sum->terms->list.front().lines.size(), 3u);
  EXPECT_EQ(sum->terms->list.front().lines[0].source, "b.cu:3");
  EXPECT_EQ(sum->terms->list.front().lines[0].launch, 2);
  EXPECT_EQ(sum->terms->phases.front().name, "b");
  EXPECT_EQ(sum->terms->phases[1].name, "launch");
  EXPECT_EQ(sum->terms->phases[1].us, 6);
}

TEST(ProgramFigures, AStepWithoutATimeLeavesNone) {
  auto steps = program();
  steps[1].timing.reset();
  EXPECT_FALSE(sum_of_timings(steps));
  EXPECT_FALSE(sum_of_timings({}));
}

TEST(ProgramFigures, CountersAddUpAndNameTheShareOfAllCtas) {
  auto steps = program();
  steps[3].counters->emulated_ctas = 4;
  const auto sum = sum_of_counters(steps);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->instructions.at("total"), 30);
  EXPECT_EQ(sum->instructions.at("b"), 4);
  EXPECT_EQ(sum->active_lanes_mean, 10);
  EXPECT_EQ(sum->shared_wavefronts, 9);
  EXPECT_EQ(sum->emulated_ctas, 8);
  EXPECT_EQ(sum->total_ctas, 12);
  EXPECT_DOUBLE_EQ(sum->sampled_fraction, 8.0 / 12);
  steps[2].counters.reset();
  EXPECT_FALSE(sum_of_counters(steps)) << "a launch is not counted yet";
}

TEST(ProgramFigures, TheLongestLaunchIsNoMemset) {
  auto steps = program();
  EXPECT_EQ(longest_launch(steps), 2u);
  steps[1].timing->p50 = 100;
  EXPECT_EQ(longest_launch(steps), 2u);
  for (LaunchFigures& one : steps) one.timing.reset();
  EXPECT_EQ(longest_launch(steps), 0u);
  EXPECT_FALSE(longest_launch({}));
}

TEST(ProgramFigures, AnObservationOfOneLaunchHasNoKeyForThem) {
  Observation one;
  one.experiment.kernel = "softmax3";
  EXPECT_FALSE(to_json(one).contains("launches"));
  one.launches = program();
  const auto back = observation_from_json(to_json(one), "o");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->launches, one.launches);
}

}  // namespace
}  // namespace attnscope
