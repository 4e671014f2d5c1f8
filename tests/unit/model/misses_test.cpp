#include "model/misses.h"

#include <gtest/gtest.h>

#include "devices_for_tests.h"
#include "model/latency.h"
#include "model/sm_simulation.h"
#include "schedules_for_tests.h"

namespace attnscope::model {
namespace {

constexpr double kKb = 1024;

TEST(LocalMisses, AStackHasWhatSharedMemoryLeaves) {
  DeviceSpec spec = l4();  // 128 KB, up to 100 of them shared
  spec.rates["l1_kb"] = 128;
  EXPECT_EQ(local_miss_share(spec, 0, 0), 0);
  EXPECT_EQ(local_miss_share(spec, 128 * kKb, 0), 0);
  EXPECT_DOUBLE_EQ(local_miss_share(spec, 160 * kKb, 0), 0.2);
  EXPECT_EQ(local_miss_share(spec, 64 * kKb, 64 * kKb), 0);
  EXPECT_DOUBLE_EQ(local_miss_share(spec, 64 * kKb, 64 * kKb + 1), 1 - 28 / 64.0) << "the next size is 100 KB";
  EXPECT_DOUBLE_EQ(local_miss_share(spec, 56 * kKb, 100 * kKb), 0.5);
  spec.rates["l1_kb"] = 256;
  EXPECT_EQ(local_miss_share(spec, 64 * kKb, 100 * kKb), 0);
}

TEST(LocalMisses, TheirShareOfLoadsComesFromTheSecondLevel) {
  const DeviceSpec spec = round_rates();  // 30 clocks from the first level, 300 from the second
  ScheduledInstruction load = instruction(Unit::local_load);
  load.write_scoreboard = 0;
  load.passes = 1;
  load.sectors = 4;
  const KernelSchedule s = schedule({{load, use()}}, {times(100)});
  const auto clocks = [&](double misses) {
    SmLoad on_sm{{0}, 1};
    on_sm.local_misses = misses;
    return simulate_sm(spec, s, on_sm).clocks;
  };
  const double none = clocks(0), half = clocks(0.5), all = clocks(1);
  EXPECT_NEAR(none / 100, 31, 3);
  EXPECT_NEAR(all / 100, 301, 10);
  EXPECT_NEAR(half, (none + all) / 2, 0.02 * all);
}

// What of a thread's arrays is in use at a time is not known.
TEST(LocalMisses, AStackWithoutSpillsCountsAsSmall) {
  DeviceSpec spec = l4();
  spec.rates["l1_kb"] = 128;
  const KernelSchedule s = schedule({{use()}}, {{0}});
  const Problem problem;
  const LaunchShape launch{{580, 1, 1}, {256, 1, 1}};
  const Counters counters;
  Occupancy occupancy;
  occupancy.ctas_per_sm = 1;
  occupancy.total_ctas = 580;
  VariantInfo variant;
  variant.stack_bytes = 1024;
  const LatencyInput in{spec, problem, variant, launch, occupancy, counters, &s};
  EXPECT_EQ(sm_load(in, {0}, 1).local_misses, 0);
  variant.spill_bytes = 16;
  EXPECT_GT(sm_load(in, {0}, 1).local_misses, 0.4);
}

}  // namespace
}  // namespace attnscope::model
