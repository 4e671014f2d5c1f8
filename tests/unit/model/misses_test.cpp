#include "model/misses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "devices_for_tests.h"
#include "model/latency.h"
#include "model/sm_simulation.h"
#include "schedules_for_tests.h"
#include "support/temp_dir.h"

namespace attnscope::model {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kKb = 1024;

TEST(LocalMisses, TheFirstLevelHasWhatSharedMemoryLeaves) {
  DeviceSpec spec = l4();  // 128 KB, up to 100 of them shared
  spec.rates["l1_kb"] = 128;
  EXPECT_EQ(l1_lines(spec, 0), 1024);
  EXPECT_EQ(l1_lines(spec, 64 * kKb), 512);
  EXPECT_EQ(l1_lines(spec, 64 * kKb + 1), 224) << "the next size is 100 KB";
  EXPECT_EQ(l1_lines(spec, 100 * kKb), 224);
  spec.rates["l1_kb"] = 256;
  EXPECT_EQ(l1_lines(spec, 100 * kKb), 1248);
}

// Of a frame of any size: what is in use at a time decides.
TEST(LocalMisses, ALineIsThereIfFewOthersCameInBetween) {
  KernelSchedule s = schedule({{instruction(Unit::local_load), use()}}, {{0}});
  s.local_reuse = {8, {{0, {{0, 6}, {3, 2}}}}};  // 6 lines again at once, 2 after three others
  EXPECT_THAT(local_misses(s, 5), ElementsAre(0, 0));
  EXPECT_THAT(local_misses(s, 2.5), ElementsAre(0.25, 0)) << "1.6 times what there is";
  EXPECT_THAT(local_misses(s, 4 / 1.2), ElementsAre(DoubleNear(0.125, 1e-12), 0)) << "between the two";
  EXPECT_THAT(local_misses(s, 0), ElementsAre(1, 0));
}

// Loads that go round the lines of all warps, timed with 28, 124 and 248 KB of first level.
TEST(LocalMisses, AreThoseOfAnH200) {
  constexpr double hit = 36, miss = 290;  // clocks
  const std::map<int, double> first_level{{100, 224}, {50, 992}, {0, 1984}};
  const std::filesystem::path tree = ATTNSCOPE_SOURCE_DIR;
  std::istringstream recorded(testing_support::read_text(tree / "tests/data/gpu/h200_local_l1.txt"));
  double apart = 0, apart_by_size = 0;
  int timed = 0;
  for (std::string line; std::getline(recorded, line);) {
    int carve = 0, stores = 0, warps = 0, used = 0;
    if (std::sscanf(line.c_str(), "carve %d store %d warps %d:%n", &carve, &stores, &warps, &used) < 3) continue;
    std::istringstream pairs(line.substr(static_cast<size_t>(used)));
    for (double lines = 0, clocks = 0; pairs >> lines && pairs.ignore(1) && pairs >> clocks; ++timed) {
      const double has = first_level.at(carve), measured = std::clamp((clocks - hit) / (miss - hit), 0.0, 1.0);
      KernelSchedule s = schedule({{instruction(Unit::local_load), use()}}, {{0}});
      s.local_reuse.loads[0][static_cast<uint32_t>(lines / warps) - 1] = 1;
      apart += std::abs(local_misses(s, has / warps).front() - measured);
      apart_by_size += std::abs((lines > has ? 1 - has / lines : 0) - measured);
    }
  }
  ASSERT_EQ(timed, 372);
  EXPECT_LT(apart / timed, 0.05);
  EXPECT_GT(apart_by_size / timed, 0.11) << "if the share beyond the first level's size missed";
}

TEST(LocalMisses, TheirShareOfLoadsComesFromTheSecondLevel) {
  const DeviceSpec spec = round_rates();  // 30 clocks from the first level, 300 from the second
  ScheduledInstruction load = instruction(Unit::local_load);
  load.write_scoreboard = 0;
  load.passes = 1;
  load.sectors = 4;
  KernelSchedule s = schedule({{load, use()}}, {times(100)});
  s.local_reuse = {1, {{0, {{0, 1}, {1, 1}}}}};  // one load again at once, one after another
  const auto clocks = [&](double lines) {
    SmLoad on_sm{{0}, 1};
    on_sm.local_misses = local_misses(s, lines);
    return simulate_sm(spec, s, on_sm).clocks;
  };
  const double none = clocks(16), half = clocks(1.25), all = clocks(0.5);
  EXPECT_NEAR(none / 100, 31, 3);
  EXPECT_NEAR(all / 100, 301, 10);
  EXPECT_NEAR(half, (none + all) / 2, 0.02 * all);
}

TEST(LocalMisses, TheResidentWarpsShareTheLines) {
  DeviceSpec spec = l4();
  spec.rates["l1_kb"] = 128;
  KernelSchedule s = schedule({{instruction(Unit::local_load), use()}}, {{0}});
  const Problem problem;
  const LaunchShape launch{{580, 1, 1}, {256, 1, 1}};
  const Counters counters;
  Occupancy occupancy;
  occupancy.ctas_per_sm = 2;
  occupancy.total_ctas = 580;
  VariantInfo variant;
  variant.stack_bytes = 1024;
  const LatencyInput in{spec, problem, variant, launch, occupancy, counters, &s};
  EXPECT_THAT(sm_load(in, {0}, {.sectors = 1}).local_misses, IsEmpty()) << "no local memory";
  // Of the CTA's eight warps four go round 180 lines each, the two resident CTAs' 1.5 times what the first level has.
  s.local_reuse.warps = 4;
  s.local_reuse.loads[0][179] = 1;
  const double lines = (128 - 8) * kKb / 128;  // each CTA has 1 KB of the system's shared memory
  EXPECT_THAT(sm_load(in, {0}, {.sectors = 1}).local_misses,
              ElementsAre(DoubleNear((8 * 180 / lines - 0.8) / 0.8, 1e-12), 0));
  occupancy.total_ctas = 58;
  EXPECT_THAT(sm_load(in, {0}, {.sectors = 1}).local_misses, ElementsAre(0, 0)) << "an SM has one";
  // With spilled registers the whole stack counts as in use.
  variant.spill_bytes = 16;
  EXPECT_THAT(sm_load(in, {0}, {.sectors = 1}).local_misses, ElementsAre(1 - lines / (8 * 256), 1 - lines / (8 * 256)));
}

}  // namespace
}  // namespace attnscope::model
