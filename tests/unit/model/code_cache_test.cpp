// Code that is larger than the instruction caches, on the simulated SM and as tests/gpu/rates.cu timed it.
#include "model/code_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include "model/sm_simulation.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

// Clocks of one run of a loop with this many FFMA, in each of `warps` warps.
double of_loop(size_t instructions, size_t warps, const DeviceSpec& spec = round_rates()) {
  const std::vector<ScheduledInstruction> block(instructions, instruction(Unit::fp32));
  const auto clocks = [&](size_t runs) {
    const KernelSchedule s = schedule({block}, std::vector(warps, times(runs)));
    return simulate_sm(spec, s, {SmCtas(1), 1}).clocks;
  };
  return (clocks(12) - clocks(4)) / 8;
}

// "fetch_4096_instructions_warps_1 2.23 clocks an instruction"
std::map<std::string, double> recorded(const std::string& gpu) {
  std::ifstream file(ATTNSCOPE_SOURCE_DIR "/tests/data/gpu/" + gpu + "_rates.txt");
  std::map<std::string, double> rates;
  std::string name, rest;
  for (double value = 0; file >> name;) {
    if (name.starts_with("fetch_") && file >> value) rates[name] = value;
    std::getline(file, rest);
  }
  return rates;
}

// The loop has seven instructions beside the FFMA.
TEST(CodeCache, LoopsTakeAsLongAsOnAGpu) {
  for (const char* gpu : {"h100", "h200"}) {
    const auto timed = recorded(gpu);
    DeviceSpec spec = round_rates();
    spec.rates["code_line"] = gpu == std::string("h100") ? 15.8 : 17.6;
    for (const size_t size : {1024, 4096, 16384}) {
      const std::string name = "fetch_" + std::to_string(size) + "_instructions_warps_1";
      ASSERT_TRUE(timed.contains(name));
      EXPECT_NEAR(of_loop(size + 7, 1, spec) / double(size), timed.at(name), 0.08 * timed.at(name)) << gpu << name;
    }
  }
}

TEST(CodeCache, WarpsOfOneSchedulerShareWhatTheFirstOneFetches) {
  const double lone = of_loop(4096, 4);
  EXPECT_GT(lone, 2.1 * 4096);
  EXPECT_LT(of_loop(4096, 8), 1.05 * lone) << "an H200 took 2.23 and 2.04 clocks an instruction";
}

TEST(CodeCache, CodeThatFitsIsThereFromTheStart) {
  const std::vector<ScheduledInstruction> block(2000, instruction(Unit::fp32));
  const KernelSchedule s = schedule({block}, {times(1)});
  EXPECT_NEAR(simulate_sm(round_rates(), s, {SmCtas(1), 1}).clocks, 2000, 2);
  CodeCache cache(round_rates(), s);
  for (size_t line = 1; line < 2000 / CodeCache::kLine; ++line) EXPECT_EQ(cache.fetch(0, line - 1, line, 1, 1), 0);
}

TEST(CodeCache, AJumpWaitsForWhatItsSchedulerDoesNotHold) {
  DeviceSpec spec = round_rates();
  spec.rates["code_own"] = 19;
  const std::vector<ScheduledInstruction> block(1024, instruction(Unit::fp32));
  CodeCache cache(spec, schedule({block}, {times(1)}));
  EXPECT_EQ(cache.fetch(0, 100, 50, 10, 20), 39);
  EXPECT_EQ(cache.fetch(0, 100, 50, 40, 50), 0) << "it is there now";
  EXPECT_EQ(cache.fetch(1, 100, 50, 40, 50), 69) << "in another scheduler's it is not";
  EXPECT_EQ(cache.fetch(0, 50, 51, 60, 61), 0) << "what comes next was fetched before";
  EXPECT_EQ(cache.fetch(0, SIZE_MAX, 3, 60, 61), 0) << "the start of a CTA has its own clocks";
}

TEST(CodeCache, ALineIsFetchedWithTheOneBeforeIt) {
  DeviceSpec spec = round_rates();
  spec.rates["code_line"] = 20;
  const std::vector<ScheduledInstruction> block(4096, instruction(Unit::fp32));
  CodeCache cache(spec, schedule({block}, {times(1)}));
  // The last 2,048 instructions are in the cache; the first ones are not.
  EXPECT_EQ(cache.fetch(0, 499, 500, 1000, 1000), 0);
  EXPECT_EQ(cache.fetch(0, SIZE_MAX, 0, 1000, 1000), 1020);
  EXPECT_EQ(cache.fetch(0, 0, 1, 1025, 1025), 1040) << "it was asked for at 1,000";
  EXPECT_EQ(cache.fetch(0, 1, 2, 2000, 2000), 1060) << "long there";
  spec.rates["code_far_kb"] = 40;
  spec.rates["code_far_line"] = 50;
  CodeCache small(spec, schedule({block}, {times(1)}));
  EXPECT_EQ(small.fetch(0, SIZE_MAX, 0, 1000, 1000), 1050) << "from beyond the far one";
}

TEST(CodeCache, WaitsForCodeAreATermOfTheirOwn) {
  const std::vector<ScheduledInstruction> block(4096, instruction(Unit::fp32));
  SmLoad load{SmCtas(1), 1};
  load.split = true;
  const SmRun run = simulate_sm(round_rates(), schedule({block}, {times(10)}), load);
  double fetch = 0, sum = 0;
  for (const Stall& stall : run.stalls) {
    sum += stall.time;
    if (stall.term == TermKind::instruction_fetch) fetch += stall.time;
  }
  EXPECT_NEAR(sum, run.clocks, 1e-6 * run.clocks);
  EXPECT_NEAR(fetch, run.clocks - 40960, 0.05 * run.clocks);
}

}  // namespace
}  // namespace attnscope::model
