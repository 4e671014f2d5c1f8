// What a modelled time may never do, on a few hundred random kernels with a mask.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/ceilings.h"
#include "model/latency.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

// The outline of a flash-attention kernel: each CTA has a head, a loop over the key tiles that its rows see, and a
// tail.
struct MadeUp {
  std::vector<std::vector<ScheduledInstruction>> blocks;  // head, tile, tail
  size_t warps = 4;
  int64_t shared = 0;
  int64_t columns = 16, rows = 64;  // of the grid
  bool reversed = false;            // the longest CTAs come first

  size_t tiles(int64_t x, bool causal) const {
    if (!causal) return static_cast<size_t>(columns);
    return static_cast<size_t>(reversed ? columns - x : x + 1);
  }
};

MadeUp make_up(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  MadeUp kernel;
  const auto block = [&](int64_t length, bool tensor) {
    std::vector<ScheduledInstruction> made;
    for (int64_t i = 0; i < length; ++i) {
      constexpr Unit kUnits[] = {Unit::fp32, Unit::fp32, Unit::integer, Unit::mufu, Unit::tensor, Unit::shared_load};
      ScheduledInstruction one = instruction(kUnits[pick(0, 5)], static_cast<int>(pick(1, 3)));
      if (tensor && pick(0, 2) > 0) one = instruction(Unit::tensor);
      if (one.unit == Unit::shared_load) one.write_scoreboard = 0, one.passes = float(pick(1, 4));
      if (pick(0, 15) == 0) one.wait_mask = 1;
      made.push_back(one);
    }
    return made;
  };
  kernel.blocks = {block(pick(5, 60), false), block(pick(20, 80), pick(0, 1) == 1), block(pick(5, 60), false)};
  kernel.blocks[1].push_back(instruction(Unit::barrier));
  kernel.warps = static_cast<size_t>(pick(1, 8));
  kernel.shared = pick(4, 96) * 1024;
  kernel.columns = pick(2, 40);
  kernel.rows = int64_t{1} << pick(0, 8);
  kernel.reversed = pick(0, 1) == 1;
  return kernel;
}

struct Made {
  double us, ceiling, instructions, waves;
  std::vector<Stall> stalls;
};

Made modelled(const MadeUp& kernel, const DeviceSpec& spec, bool causal) {
  KernelSchedule s = schedule(kernel.blocks, {{}});
  s.traces.clear();
  const int64_t last = kernel.columns - 1;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < (causal ? 9 : 1); ++i) places.push_back((i * last + 4) / 8);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const int64_t x : places) {
    std::vector<Visit> visits{{0, 32}};
    visits.insert(visits.end(), kernel.tiles(x, causal), Visit{1, 32});
    visits.push_back({2, 32});
    s.traces.push_back({x, std::vector(kernel.warps, visits)});
  }
  int64_t tiles = 0;
  for (int64_t x = 0; x < kernel.columns; ++x) tiles += static_cast<int64_t>(kernel.tiles(x, causal));
  const auto warps = static_cast<int64_t>(kernel.warps);
  Counters counters;
  for (size_t b = 0; b < s.blocks.size(); ++b)
    for (uint32_t i = 0; i < s.blocks[b].count; ++i) {
      ScheduledInstruction& one = s.code[s.blocks[b].first + i];
      one.issued = kernel.rows * warps * (b == 1 ? tiles : kernel.columns);
      counters.instructions["total"] += one.issued;
    }
  counters.emulated_ctas = counters.total_ctas = kernel.columns * kernel.rows;
  const LaunchShape launch{{kernel.columns, kernel.rows, 1}, {32 * warps, 1, 1}};
  VariantInfo variant;
  variant.registers = 64;
  variant.dynamic_shared_bytes = kernel.shared;
  const Problem problem;
  const Occupancy fits = occupancy(spec, variant, launch);
  Modelled made = latency({spec, problem, variant, launch, fits, counters, &s});
  return {made.timing.p50, ceilings(spec, problem, counters, s).highest(), double(counters.instructions["total"]),
          fits.waves, std::move(made.stalls)};
}

class Physics : public testing::TestWithParam<uint64_t> {
 protected:
  const MadeUp kernel_ = make_up(GetParam());
  const DeviceSpec devices_[3] = {l4(), h200(), a100()};
  const DeviceSpec& spec_ = devices_[GetParam() % 3];
};

TEST_P(Physics, NoTimeIsBelowWhatTheUnitsTake) {
  for (const bool causal : {false, true}) {
    const Made of = modelled(kernel_, spec_, causal);
    EXPECT_GT(of.us, of.ceiling) << (causal ? "causal" : "not causal");
  }
}

// Half of the work takes at least half of the time, except for the last wave, which only equal CTAs leave half empty;
// and never more than all of it.
TEST_P(Physics, AMaskSavesNoMoreThanItsWork) {
  const Made all = modelled(kernel_, spec_, false), masked = modelled(kernel_, spec_, true);
  const double launch = 2, full = all.waves / std::ceil(all.waves);
  EXPECT_GT(masked.us - launch, 0.93 * (all.us - launch) * full * masked.instructions / all.instructions);
  EXPECT_LT(masked.us, 1.02 * all.us);
}

// Within 3 %: the nearest traced CTA stands for those between, and CTAs in another order may fit better.
TEST_P(Physics, MoreWorkIsNeverFaster) {
  for (const bool causal : {false, true}) {
    MadeUp longer = kernel_, wider = kernel_;
    longer.columns = kernel_.columns * 2;
    wider.rows = kernel_.rows * 2;
    const double us = modelled(kernel_, spec_, causal).us;
    EXPECT_GE(modelled(longer, spec_, causal).us, 0.97 * us) << (causal ? "causal" : "not causal");
    EXPECT_GE(modelled(wider, spec_, causal).us, 0.97 * us) << (causal ? "causal" : "not causal");
  }
}

TEST_P(Physics, TermsSumToTheTimeAndLittleIsUnexplained) {
  for (const bool causal : {false, true}) {
    const Made of = modelled(kernel_, spec_, causal);
    double unexplained = 0;
    for (const Stall& stall : of.stalls) {
      EXPECT_GT(stall.time, 0);
      if (stall.term == TermKind::other) unexplained += stall.time;
    }
    EXPECT_NEAR(sum_of(of.stalls), of.us, 1e-6 * of.us) << (causal ? "causal" : "not causal");
    EXPECT_LE(unexplained, 0.05 * of.us) << (causal ? "causal" : "not causal");
  }
}

INSTANTIATE_TEST_SUITE_P(MadeUpKernels, Physics, testing::Range<uint64_t>(1, 121));

}  // namespace
}  // namespace attnscope::model
