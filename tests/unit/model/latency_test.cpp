#include "model/latency.h"

#include <gtest/gtest.h>

#include "model/rates.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

struct Latency : testing::Test {
  Latency() {
    variant.registers = 40;
    variant.static_shared_bytes = 36896;
    launch = {{16, 8, 1}, {128, 1, 1}};
    counters.instructions["total"] = 1'000'000;
    counters.emulated_ctas = counters.total_ctas = 128;
    const std::vector<ScheduledInstruction> work(1000, instruction(Unit::fp32, 4));
    schedule = model::schedule({work}, std::vector(4, times(20)));
  }
  Timing timing(const KernelSchedule* s, const DeviceSpec& spec) const {
    const Occupancy o = occupancy(spec, variant, launch);
    return latency({spec, problem, variant, launch, o, counters, s});
  }
  Problem problem;
  VariantInfo variant;
  LaunchShape launch;
  Counters counters;
  KernelSchedule schedule;
};

TEST_F(Latency, IsAlwaysMarkedModelled) {
  for (const KernelSchedule* s : {static_cast<const KernelSchedule*>(nullptr), &std::as_const(schedule)}) {
    const Timing t = timing(s, l4());
    EXPECT_EQ(t.kind, FigureKind::modelled);
    EXPECT_EQ(t.samples, 0);
    EXPECT_GT(t.p50, 0);
    EXPECT_EQ(t.p10, t.p50);
    EXPECT_LT(t.interval_low, t.p50);
    EXPECT_GT(t.interval_high, t.p50);
    EXPECT_FALSE(t.bound.empty());
    EXPECT_EQ(t.clock_mhz, 2040);
  }
}

TEST_F(Latency, TheErrorBarWidensWithWhatIsAssumed) {
  const auto width = [](const Timing& t) { return t.interval_high / t.interval_low; };
  EXPECT_LT(width(timing(&schedule, h200())), width(timing(&schedule, l4())));
  EXPECT_LT(width(timing(&schedule, l4())), width(timing(nullptr, l4())));
}

// 128 CTAs of which an L4 holds 116: the 12 of the tail cost a whole CTA's time more.
TEST_F(Latency, TheTailCostsAWave) {
  const double launch_us = rates::kLaunchUs.fallback;
  const double tail = timing(&schedule, l4()).p50 - launch_us;
  launch.grid = {58, 2, 1};
  const double full = timing(&schedule, l4()).p50 - launch_us;
  EXPECT_NEAR(tail / full, 2, 0.05);
  EXPECT_NEAR(full, 20 * 4000 / 2040.0, 3);
}

// Under a mask the CTAs of one wave differ: the longest decides, whichever way the kernel orders its rows.
TEST_F(Latency, TheLongestCtaOfAWaveDecides) {
  launch.grid = {8, 1, 1};
  const std::vector<ScheduledInstruction> work(1000, instruction(Unit::fp32, 4));
  const auto with = [&](size_t first, size_t last) {
    KernelSchedule two = model::schedule({work}, std::vector(4, times(first)));
    two.traces.push_back({7, model::schedule({work}, std::vector(4, times(last))).traces.front().warps});
    return timing(&two, l4()).p50;
  };
  EXPECT_EQ(with(2, 40), with(40, 2));
  EXPECT_EQ(with(2, 40), with(40, 40));
}

TEST_F(Latency, ManyWavesGoAtASteadyRate) {
  launch.grid = {1160, 1, 1};  // ten waves
  const double ten = timing(&schedule, l4()).p50;
  launch.grid = {2320, 1, 1};
  EXPECT_NEAR(timing(&schedule, l4()).p50 / ten, 2, 0.05);
}

TEST_F(Latency, ASustainedClockIsPreferred) {
  DeviceSpec spec = l4();
  spec.sustained_clock_mhz = 1020;
  EXPECT_NEAR(timing(&schedule, spec).p50 / timing(&schedule, l4()).p50, 2, 0.06);
  EXPECT_EQ(timing(&schedule, spec).clock_mhz, 1020);
}

TEST_F(Latency, TheBoundIsNamed) {
  EXPECT_EQ(timing(&schedule, l4()).bound, "instruction latency");
  const auto conflicts = model::schedule({{shared_load(32), shared_load(32), use()}}, std::vector(4, times(500)));
  EXPECT_EQ(timing(&conflicts, l4()).bound, "shared memory");
  const std::vector<ScheduledInstruction> dense(1000, instruction(Unit::fp32));
  const auto busy = model::schedule({dense}, std::vector(16, times(20)));
  EXPECT_EQ(timing(&busy, l4()).bound, "issue slots");
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = 4, load.sectors = 16;
  const auto waiting = model::schedule({{load, use()}}, {times(500)});
  EXPECT_EQ(timing(&waiting, l4()).bound, "global memory latency");
}

TEST_F(Latency, WhatExceedsTheCacheIsBoundByDram) {
  problem.batch = 64, problem.seq_q = problem.seq_k = 4096;  // 1 GB
  const Timing t = timing(&schedule, l4());
  EXPECT_EQ(t.bound, "DRAM bandwidth");
  EXPECT_NEAR(t.p50, 4.0 * 64 * 8 * 4096 * 64 * 2 / 300e9 * 1e6, 1);
}

TEST_F(Latency, SampledCountersStandForTheGrid) {
  const double whole = timing(nullptr, l4()).p50;
  counters.instructions["total"] /= 4;
  counters.emulated_ctas /= 4;
  EXPECT_NEAR(timing(nullptr, l4()).p50, whole, 1e-9);
}

TEST_F(Latency, NothingGivesNothing) {
  variant.static_shared_bytes = 60000;
  EXPECT_EQ(timing(&schedule, l4()).p50, 0);
  variant.static_shared_bytes = 0;
  counters = {};
  EXPECT_EQ(timing(nullptr, l4()).p50, 0);
  const KernelSchedule untraced;
  EXPECT_EQ(timing(&untraced, l4()).p50, 0);
}

TEST(Rates, NamesAreUnique) {
  std::map<std::string, int> seen;
  for (const rates::Rate* rate : rates::kAll) {
    EXPECT_EQ(++seen[rate->name], 1) << rate->name;
    EXPECT_GT(rate->fallback, 0) << rate->name;
  }
  DeviceSpec spec;
  EXPECT_EQ(rates::rate(spec, rates::kMufu), 16);
  spec.rates["mufu"] = 32;
  EXPECT_EQ(rates::rate(spec, rates::kMufu), 32);
}

}  // namespace
}  // namespace attnscope::model
