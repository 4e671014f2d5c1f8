// What a simulation that ends early says about the rest, compared with the whole run.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/attribution.h"
#include "model/sm_simulation.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 40;

SmRun run_until(const KernelSchedule& s, SmCtas ctas, int64_t resident, int64_t enough, int64_t limit = kNoLimit) {
  SmLoad load{std::move(ctas), resident, limit};
  load.enough_steps = enough;
  return simulate_sm(round_rates(), s, load);
}

SmRun whole_run(const KernelSchedule& s, SmCtas ctas, int64_t resident) {
  return run_until(s, std::move(ctas), resident, kNoLimit);
}

double sum_of_stalls(const SmRun& run) {
  double sum = 0;
  for (const Stall& stall : run.stalls) sum += stall.time;
  return sum;
}

// CTAs that begin fast, 1 clock an instruction, and end slow, 15 clocks; every third one is twice as long.
struct TwoPhases {
  KernelSchedule schedule = model::schedule(
      {std::vector(100, instruction(Unit::fp32)), std::vector(10, instruction(Unit::fp32, 15))}, {visits(1)});
  SmCtas ctas;

  explicit TwoPhases(size_t number) {
    schedule.traces.push_back(model::schedule({{}, {}}, {visits(2)}).traces.front());
    for (size_t i = 0; i < number; ++i) ctas.push_back(i % 3 == 0);
  }
  static std::vector<uint32_t> visits(size_t length) {
    std::vector<uint32_t> both = times(10 * length, 0);
    both.insert(both.end(), 10 * length, 1);
    return both;
  }
};
constexpr int64_t kShort = 1100, kThree = 4 * kShort;  // instructions

TEST(Extrapolation, CtasThatHaveEndedTellHowLongTheOthersTake) {
  const TwoPhases two(300);
  const SmRun whole = whole_run(two.schedule, two.ctas, 1);
  ASSERT_TRUE(whole.complete);
  const int64_t in_a_fast_phase = 4 * kThree + 900;
  const SmRun part = run_until(two.schedule, two.ctas, 1, in_a_fast_phase, 5 * kThree);
  EXPECT_FALSE(part.complete);
  EXPECT_EQ(part.steps, in_a_fast_phase);
  EXPECT_NEAR(part.clocks / whole.clocks, 1, 0.002);
  EXPECT_NEAR(sum_of_stalls(part), part.clocks, 1e-6 * part.clocks);
  const double by_instructions = part.simulated * double(whole.instructions) / double(part.instructions);
  EXPECT_LT(by_instructions / whole.clocks, 0.98) << "the CTA under way is in its fast phase";
}

TEST(Extrapolation, TheyTellTooIfThePlacesAreNotInStep) {
  const TwoPhases two(400);
  const SmRun whole = whole_run(two.schedule, two.ctas, 3);
  const SmRun part = run_until(two.schedule, two.ctas, 3, 9 * kThree + 500, 10 * kThree);
  EXPECT_FALSE(part.complete);
  EXPECT_NEAR(part.clocks / whole.clocks, 1, 0.01);
}

TEST(Extrapolation, TooFewTellNothing) {
  const TwoPhases two(300);
  for (const int64_t three : {1, 2, 3, 4}) {
    const int64_t limit = three * kThree + 10;
    const SmRun part = run_until(two.schedule, two.ctas, 1, limit, limit);
    const double by_instructions = part.simulated * 400 * kShort / double(limit);
    EXPECT_EQ(std::abs(part.clocks - by_instructions) < 1e-6 * part.clocks, three == 1) << "four CTAs are not few";
  }
  for (const size_t left : {2, 3}) {
    const TwoPhases some(15 + 1 + left);  // after five threes another one, which is long, has begun
    const int64_t limit = 5 * kThree + 10;
    const SmRun part = run_until(some.schedule, some.ctas, 1, limit, limit);
    const SmRun whole = whole_run(some.schedule, some.ctas, 1);
    const double by_instructions = part.simulated * double(whole.instructions) / double(limit);
    EXPECT_EQ(std::abs(part.clocks - by_instructions) < 1e-6 * part.clocks, left == 2)
        << "three that are left are not few";
  }
}

TEST(Extrapolation, ItEndsEarlyOnlyIfItIsLong) {
  const TwoPhases two(60);
  const int64_t all = 20 * kThree;
  EXPECT_TRUE(run_until(two.schedule, two.ctas, 1, all / 4, all).complete);
  EXPECT_EQ(run_until(two.schedule, two.ctas, 1, all / 4, all / 2 + 10).steps, all / 2 + 10) << "twice the limit";
  const SmRun part = run_until(two.schedule, two.ctas, 1, all / 4, all / 2 - kThree);
  EXPECT_FALSE(part.complete);
  EXPECT_EQ(part.steps, all / 4);
  EXPECT_EQ(run_until(two.schedule, two.ctas, 1, kThree, all / 2 - kThree).steps, all / 2 - kThree)
      << "three have ended";
}

TEST(Extrapolation, WithoutRepetitionItGoesOnToTheLimit) {
  const TwoPhases two(90);
  SmLoad load{two.ctas, 1, 8 * kThree};
  load.enough_steps = 5 * kThree;
  EXPECT_EQ(simulate_sm(round_rates(), two.schedule, load).steps, 5 * kThree);
  load.repeat = false;
  EXPECT_EQ(simulate_sm(round_rates(), two.schedule, load).steps, 8 * kThree);
}

// A long CTA hinders the first ones beside it; it has ended when the simulation does.
TEST(Extrapolation, OnlyTheLaterOnesTell) {
  auto s = schedule({{shared_load(4), use()}, {shared_load(64), use()}}, {times(20)});
  s.traces.push_back(schedule({{}, {}}, {times(200, 1)}).traces.front());
  SmCtas ctas(600);
  ctas.front() = 1;
  const SmRun whole = whole_run(s, ctas, 2);
  const int64_t limit = 6000;
  const SmRun part = run_until(s, ctas, 2, limit, limit);
  EXPECT_FALSE(part.complete);
  EXPECT_NEAR(part.clocks / whole.clocks, 1, 0.005);
}

// Equal CTAs of which some have more misses than others.
TEST(Extrapolation, WavesThatWillPassAtOnceAreNotLeft) {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = load.sectors = 1;
  auto s = schedule({{load, use()}}, {times(10)});
  s.code[0].issued = 10;
  s.global_bytes_per_cta = 32 * 3.7;
  const int64_t of_cta = 20;
  const SmCtas ctas(1000);
  const SmRun whole = whole_run(s, ctas, 2);
  ASSERT_GT(whole.steps, 2 * 20 * of_cta) << "waves differ, so they are compared for long";
  EXPECT_TRUE(run_until(s, ctas, 2, 2 * 10 * of_cta, 2 * 30 * of_cta).complete);
  EXPECT_EQ(run_until(s, ctas, 2, 2 * 8 * of_cta, 2 * 11 * of_cta).steps, 2 * 8 * of_cta);
}

// What passed at once while a CTA ran is no part of its time.
TEST(Extrapolation, WavesThatPassedAtOnceAreInNoCta) {
  const auto s = schedule({std::vector(10, instruction(Unit::fp32, 4))}, {times(10)});
  const SmCtas ctas(400);
  const SmRun whole = whole_run(s, ctas, 3);
  ASSERT_LT(whole.steps, whole.instructions / 4);
  int after = 0;
  for (int64_t limit = 100; limit < whole.steps; limit += 50) {
    const SmRun part = run_until(s, ctas, 3, limit, limit);
    after += part.instructions > 2 * part.steps;
    EXPECT_NEAR(part.clocks / whole.clocks, 1, 0.05) << limit;
  }
  EXPECT_GT(after, 5);
}

// Heads of 360 CTAs, from the shortest to the longest. What they have in common is slow.
TEST(Extrapolation, CtasOfAllLengthsAreSimulated) {
  constexpr size_t kLengths = 9, kOfLength = 40, kHeads = 60;
  KernelSchedule s;
  for (size_t length = 1; length <= kLengths; ++length) {
    std::vector<uint32_t> visits = times(5, 0);
    visits.insert(visits.end(), 4 * length, 1);
    KernelSchedule one =
        schedule({std::vector(10, instruction(Unit::fp32, 15)), std::vector(20, instruction(Unit::fp32))}, {visits});
    if (length == 1)
      s = std::move(one);
    else
      s.traces.push_back(one.traces.front());
  }
  SmCtas ctas;
  for (size_t head = 0; head < kHeads; ++head)
    for (uint32_t trace = 0; trace < kLengths; ++trace) ctas.insert(ctas.end(), kOfLength, trace);
  const SmRun whole = whole_run(s, ctas, 2);
  const int64_t limit = 40'000;  // the first 191 CTAs, of which none is of one of the four greatest lengths
  const SmRun part = run_until(s, ctas, 2, limit, 2 * limit);
  EXPECT_EQ(part.steps, limit);
  EXPECT_NEAR(part.clocks / whole.clocks, 1, 0.02);
}

}  // namespace
}  // namespace attnscope::model
