#include "model/latency.h"

#include <gtest/gtest.h>

#include "model/bars.h"
#include "model/ceilings.h"
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
  Modelled modelled(const KernelSchedule* s, const DeviceSpec& spec) const {
    const Occupancy o = occupancy(spec, variant, launch);
    return latency({spec, problem, variant, launch, o, counters, s});
  }
  Timing timing(const KernelSchedule* s, const DeviceSpec& spec) const { return modelled(s, spec).timing; }
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
    EXPECT_LE(t.interval_low, t.p50);
    EXPECT_GE(t.interval_high, t.p50);
    EXPECT_LT(t.interval_low, t.interval_high);
    EXPECT_NE(t.bound, Bound::unknown);
    EXPECT_EQ(t.clock_mhz, 2040);
  }
}

TEST_F(Latency, TheErrorBarWidensWithWhatIsAssumed) {
  const auto width = [](const Timing& t) { return t.interval_high / t.interval_low; };
  EXPECT_LT(width(timing(&schedule, h200())), width(timing(&schedule, l4())));
  EXPECT_LT(width(timing(&schedule, l4())), width(timing(nullptr, l4())));
}

TEST_F(Latency, TheErrorBarIsThatOfItsBound) {
  for (const DeviceSpec& spec : {h200(), l4()})
    for (const KernelSchedule* s : {static_cast<const KernelSchedule*>(nullptr), &std::as_const(schedule)}) {
      const Timing t = timing(s, spec);
      const Bar bar = bar_of(t.bound, s != nullptr, spec.arch);
      EXPECT_DOUBLE_EQ(t.interval_low, t.p50 * bar.low);
      EXPECT_DOUBLE_EQ(t.interval_high, t.p50 * bar.high);
    }
}

// An L4 holds 116 of the 128 CTAs: the tail of 12 costs the whole time of another CTA.
TEST_F(Latency, TheTailCostsAWave) {
  const double launch_us = rates::kLaunchUs.fallback;
  const double tail = timing(&schedule, l4()).p50 - launch_us;
  launch.grid = {58, 2, 1};
  const double full = timing(&schedule, l4()).p50 - launch_us;
  EXPECT_NEAR(tail / full, 2, 0.05);
  EXPECT_NEAR(full, 20 * 4000 / 2040.0, 3);
}

// An SM of an L4 holds two of these CTAs, 116 in all. Of the last wave, the first SMs to be free get as many as they
// hold.
TEST_F(Latency, TheLastCtasAreNotSharedOutEvenly) {
  const std::vector<ScheduledInstruction> work(1000, instruction(Unit::fp32, 1));
  const KernelSchedule busy = model::schedule({work}, std::vector(4, times(20)));
  const auto of_grid = [&](uint32_t ctas) {
    launch.grid = {ctas, 1, 1};
    return timing(&busy, l4()).p50;
  };
  const double four = of_grid(4 * 58);
  EXPECT_NEAR(of_grid(116 + 32) / four, 0.75, 0.02) << "32 are gone before an SM has two free places";
  EXPECT_EQ(of_grid(116 + 34), four) << "the first SM gets two";
  EXPECT_EQ(of_grid(116 + 58), four) << "though one for each SM would do";
  EXPECT_LT(of_grid(4 * 116 + 52), of_grid(5 * 116)) << "after four waves SMs are too far apart";
  launch.block = {256, 1, 1};
  const KernelSchedule wide = model::schedule({work}, std::vector(8, times(20)));
  launch.grid = {116 + 52, 1, 1};
  const double of_wide = timing(&wide, l4()).p50;
  launch.grid = {3 * 58, 1, 1};
  EXPECT_EQ(of_wide, timing(&wide, l4()).p50) << "eight warps do not end together";
  // CTAs of two warps, of which a scheduler has one for every two CTAs.
  launch.block = {64, 1, 1};
  const KernelSchedule narrow = model::schedule({work}, std::vector(2, times(20)));
  const auto of_narrow = [&](int64_t shared_bytes, uint32_t ctas) {
    variant.static_shared_bytes = shared_bytes;
    launch.grid = {ctas, 1, 1};
    return timing(&narrow, l4()).p50;
  };
  constexpr int64_t kForFour = 24000, kForNine = 10000;  // places on an SM
  const double eight = of_narrow(kForFour, 8 * 58);
  EXPECT_NEAR(of_narrow(kForFour, 4 * 58 + 45) / eight, 0.75, 0.02) << "the first SM gets two";
  EXPECT_NEAR(of_narrow(kForFour, 4 * 58 + 46) / eight, 1, 0.01)
      << "three: two schedulers have as many warps as with four";
  EXPECT_NEAR(of_narrow(kForNine, 9 * 58 + 52) / of_narrow(kForNine, 18 * 58), 0.6, 0.02)
      << "18 warps do not end together";
}

// With a mask, the CTAs of one wave differ: the longest decides, whatever the order of the kernel's rows.
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

// As on an H200: 1,800 MHz with products on Tensor Cores, otherwise 1,980.
TEST_F(Latency, ProductsOnTensorCoresLowerTheClock) {
  DeviceSpec spec = h200();
  spec.rates["tensor_clock_mhz"] = 990;
  const std::vector<ScheduledInstruction> block(1000, instruction(Unit::fp32, 4));
  KernelSchedule products = model::schedule({block}, std::vector(4, times(20)));
  products.code[0] = instruction(Unit::tensor, 4);
  products.code[0].issued = 1;
  const double slowed = timing(&products, spec).p50, full = timing(&products, h200()).p50;
  EXPECT_EQ(timing(&products, spec).clock_mhz, 990);
  EXPECT_EQ(timing(&products, h200()).clock_mhz, 1980);
  const double launch_us = rates::kLaunchUs.fallback;
  EXPECT_NEAR((slowed - launch_us) / (full - launch_us), 2, 1e-3);
  spec.sustained_clock_mhz = 900;
  EXPECT_EQ(timing(&products, spec).clock_mhz, 900) << "the lower of the two";
  spec.sustained_clock_mhz = 1500;
  EXPECT_EQ(timing(&products, spec).clock_mhz, 990);
  EXPECT_EQ(timing(&schedule, spec).clock_mhz, 1500) << "it has no product";
  products.code[0].fp64 = true;
  EXPECT_EQ(timing(&products, spec).clock_mhz, 1500) << "of doubles";
  products.code[0].fp64 = false;
  products.code[0].issued = 0;
  EXPECT_EQ(timing(&products, spec).clock_mhz, 1500) << "it never ran";
}

TEST_F(Latency, TheBoundIsNamed) {
  EXPECT_EQ(timing(&schedule, l4()).bound, Bound::instruction_latency);
  const auto conflicts = model::schedule({{shared_load(32), shared_load(32), use()}}, std::vector(4, times(500)));
  EXPECT_EQ(timing(&conflicts, l4()).bound, Bound::shared_memory);
  const std::vector<ScheduledInstruction> dense(1000, instruction(Unit::fp32));
  const auto busy = model::schedule({dense}, std::vector(16, times(20)));
  EXPECT_EQ(timing(&busy, l4()).bound, Bound::issue_slots);
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = 4, load.sectors = 16;
  const auto waiting = model::schedule({{load, use()}}, {times(500)});
  EXPECT_EQ(timing(&waiting, l4()).bound, Bound::global_latency);
}

TEST_F(Latency, ABusyUnitIsTheBound) {
  for (const auto& [unit, name] : {std::pair{Unit::fp16x2, Bound::fp16},
                                   {Unit::half_to_float, Bound::half_conversions},
                                   {Unit::fp64, Bound::fp64},
                                   {Unit::integer, Bound::integer},
                                   {Unit::imad, Bound::integer_multiply},
                                   {Unit::mufu, Bound::mufu},
                                   {Unit::conversion, Bound::conversions},
                                   {Unit::uniform, Bound::arithmetic_units},
                                   {Unit::tensor, Bound::tensor_cores}}) {
    DeviceSpec slow = l4();  // each unit's next instruction waits for more than an issue slot
    for (const char* rate : {"fp16x2", "half_to_float", "int", "imad", "uniform"}) slow.rates[rate] = 32;
    const auto busy = model::schedule({std::vector(100, instruction(unit))}, std::vector(16, times(20)));
    EXPECT_EQ(timing(&busy, slow).bound, name);
  }
  ScheduledInstruction wait = instruction(Unit::mufu);
  wait.write_scoreboard = 0;
  const auto waits = model::schedule({{wait, use()}}, {times(500)});
  EXPECT_EQ(timing(&waits, l4()).bound, Bound::short_latency);
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = 4, load.sectors = 16;
  const auto streams = model::schedule({{load, use()}}, std::vector(32, times(100)));
  EXPECT_EQ(timing(&streams, l4()).bound, Bound::l2_bandwidth);
  load.passes = 32, load.sectors = 1;
  const auto scattered = model::schedule({{load, use()}}, std::vector(32, times(100)));
  EXPECT_EQ(timing(&scattered, l4()).bound, Bound::l1_lines);
}

// 128 CTAs on 58 SMs: one SM has three. Eight of the 16 warps that hide latency are resident, so it takes twice as
// long.
TEST_F(Latency, WithoutAScheduleTheBusiestOfTheCountersDecides) {
  const auto clocks = [&] { return (timing(nullptr, l4()).p50 - rates::kLaunchUs.fallback) * 2040; };
  ASSERT_EQ(occupancy(l4(), variant, launch).ctas_per_sm, 2);
  EXPECT_NEAR(clocks(), 1e6 / 4 / 128 * 3 * 2, 1e-6);
  EXPECT_EQ(timing(nullptr, l4()).bound, Bound::issue_slots);
  counters.shared_wavefronts = 300'000;
  EXPECT_NEAR(clocks(), 3e5 / 128 * 3 * 2, 1e-6);
  EXPECT_EQ(timing(nullptr, l4()).bound, Bound::shared_memory);
  counters.global_load_sectors = 200'000;
  counters.global_store_sectors = 132'000;
  EXPECT_NEAR(clocks(), 332e3 / 0.83 / 128 * 3 * 2, 1e-6);
  EXPECT_EQ(timing(nullptr, l4()).bound, Bound::l2_bandwidth);
  launch.block[0] = 1024;
  EXPECT_NEAR(clocks(), 332e3 / 0.83 / 128 * 3, 1e-6) << "64 warps hide it";
}

// More atomics in a sector or in 512 bytes never make a kernel faster, and their time is never undercut, whether
// traced CTAs make them or others do.
TEST_F(Latency, AtomicsThatMeetBoundTheTime) {
  const DeviceSpec spec = l4();
  ScheduledInstruction add = instruction(Unit::global_store);
  add.passes = add.sectors = 1;
  add.issued = 128 * 4 * 64;
  for (const float turns : {0.F, 32.F}) {
    add.turns = turns;
    auto adds = model::schedule({{add, use()}}, std::vector(4, times(64)));
    for (const bool of_sector : {true, false}) {
      double last = modelled(&adds, spec).timing.p50;
      for (const double times : {1e4, 1e6, 1e7, 1e8}) {
        for (const bool floating : {false, true}) {
          adds.hottest = {.sector = of_sector ? times : 0, .piece = of_sector ? 0 : times, .floating = floating};
          const Modelled m = modelled(&adds, spec);
          EXPECT_GE(m.timing.p50, last);
          last = m.timing.p50;
          const double us = times * (!of_sector ? 1.17 : floating ? 3.47 : 1.45) / spec.clock_mhz;
          EXPECT_GE(m.timing.p50, us);
          EXPECT_DOUBLE_EQ(ceilings(spec, problem, counters, adds).atomics, kFastestAtomics * us);
          EXPECT_NEAR(sum_of(m.stalls), m.timing.p50, 1e-9 * m.timing.p50);
          if (times < 1e7) continue;
          EXPECT_EQ(m.timing.bound, Bound::atomics);
          EXPECT_LT(m.timing.p50, 1.05 * us + 5);
        }
      }
      adds.hottest = {};
    }
  }
}

// Each CTA's four warps load 512 KB each, the grid 268 MB.
TEST_F(Latency, WhatExceedsTheCacheIsBoundByDram) {
  problem.batch = 16, problem.seq_q = problem.seq_k = 4096;
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = 4, load.sectors = 16;
  load.issued = 128 * 4 * 1024;
  const auto streams = model::schedule({{load, use()}}, std::vector(4, times(1024)));
  const Modelled m = modelled(&streams, l4());
  EXPECT_EQ(m.timing.bound, Bound::dram_bandwidth);
  const double us = 4.0 * 16 * 8 * 4096 * 64 * 2 / 300e9 * 1e6;
  EXPECT_GE(m.timing.p50, us);
  EXPECT_LT(m.timing.p50, 1.07 * us) << "a warp's only load waits for memory, which four warps do not hide";
  EXPECT_NEAR(sum_of(m.stalls), m.timing.p50, 1e-9 * m.timing.p50);
  for (const Stall& stall : m.stalls)
    EXPECT_TRUE(stall.term != TermKind::dram_bandwidth || stall.producer == 0) << "the load carries it";
}

double of(const Modelled& modelled, TermKind term) {
  double sum = 0;
  for (const Stall& stall : modelled.stalls)
    if (stall.term == term) sum += stall.time;
  return sum;
}

TEST_F(Latency, TheStallsSumToTheTime) {
  for (const int64_t ctas : {1, 58, 128, 1160, 2321}) {
    launch.grid = {ctas, 1, 1};
    const Modelled m = modelled(&schedule, l4());
    EXPECT_NEAR(sum_of(m.stalls), m.timing.p50, 1e-9 * m.timing.p50) << ctas;
    EXPECT_GE(of(m, TermKind::launch), rates::kLaunchUs.fallback);
  }
}

// 128 CTAs, of which an L4 holds 116: one of two places is empty for half of the time. Later waves have no tail of
// their own.
TEST_F(Latency, TheTailIsInTheLastWaveOnly) {
  const Modelled few = modelled(&schedule, l4());
  EXPECT_NEAR(of(few, TermKind::tail) / few.timing.p50, 0.25, 0.02);
  launch.grid = {1160, 1, 1};
  const Modelled many = modelled(&schedule, l4());
  EXPECT_LT(of(many, TermKind::tail) / many.timing.p50, 0.02);
  EXPECT_NEAR(of(many, TermKind::issue) / many.timing.p50, 0.5, 0.02) << "two warps a scheduler, every fourth clock";
}

TEST_F(Latency, WithoutAScheduleNoTermIsMadeUp) {
  const Modelled m = modelled(nullptr, l4());
  EXPECT_GT(m.timing.p50, 0);
  EXPECT_TRUE(m.stalls.empty());
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
  DeviceSpec stopped = l4();
  stopped.clock_mhz = 0;
  variant.static_shared_bytes = 0;
  EXPECT_EQ(timing(&schedule, stopped).p50, 0) << "no clock";
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
    EXPECT_GE(rate->fallback, rate == &rates::kMmaBanks ? 0 : 1e-3) << rate->name << " (clocks may be none)";
  }
  DeviceSpec spec;
  EXPECT_EQ(rates::rate(spec, rates::kMufu), 16);
  spec.rates["mufu"] = 32;
  EXPECT_EQ(rates::rate(spec, rates::kMufu), 32);
}

// A buffer of the second-level cache's size and one far beyond: docs/writing-a-kernel.md, Several launches.
TEST(Transfer, IsALaunchAndItsBytesAtABandwidth) {
  const DeviceSpec spec = l4();
  const double launch = rates::rate(spec, rates::kLaunchUs);
  EXPECT_DOUBLE_EQ(transfer(spec, 0).p50, launch);
  const Timing small = transfer(spec, 1e7), large = transfer(spec, 1e9);
  EXPECT_EQ(small.kind, FigureKind::modelled);
  EXPECT_EQ(small.bound, Bound::l2_bandwidth);
  EXPECT_EQ(transfer(spec, 24).bound, Bound::unknown) << "mostly a launch";
  EXPECT_GT(small.p50, launch);
  EXPECT_EQ(large.bound, Bound::dram_bandwidth);
  EXPECT_DOUBLE_EQ(large.p50, launch + 1e9 / spec.dram_gbs * 1e-3) << "never faster than memory";
  ASSERT_TRUE(large.terms);
  double sum = 0;
  for (const Term& term : large.terms->list) sum += term.us;
  EXPECT_DOUBLE_EQ(sum, large.p50);
  EXPECT_EQ(large.terms->list.front().kind, TermKind::dram_bandwidth);
  EXPECT_DOUBLE_EQ(large.terms->phases.front().us, large.p50);
}

}  // namespace
}  // namespace attnscope::model
