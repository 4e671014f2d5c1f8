#include "model/ceilings.h"

#include <gtest/gtest.h>

#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

struct CeilingsOf : testing::Test {
  CeilingsOf() {
    counters.emulated_ctas = 10;
    counters.total_ctas = 40;
    schedule =
        model::schedule({{instruction(Unit::tensor), instruction(Unit::fp32), instruction(Unit::integer)}}, {{0}});
    for (ScheduledInstruction& one : schedule.code) one.issued = 1'000'000;
  }
  Problem problem;
  Counters counters;
  KernelSchedule schedule;
};

// An L4 in round numbers: 121 TFLOP/s, and 58 SMs at 2,040 MHz with 128 FP32 lanes and four schedulers each.
TEST_F(CeilingsOf, AreOfTheWholeGridAtTheDataSheetsRates) {
  const Ceilings of = ceilings(l4(), problem, counters, schedule);
  EXPECT_NEAR(of.tensor, 4e6 * 4096 / 121e12 * 1e6, 1e-6);
  EXPECT_NEAR(of.fp32, 4e6 * 32 / 128 / (58 * 2040.0), 1e-9);
  EXPECT_NEAR(of.issue, 3 * 4e6 / 4 / (58 * 2040.0), 1e-9);
  EXPECT_EQ(of.dram, 0) << "2 MB stay in the second-level cache";
  EXPECT_EQ(of.highest(), of.tensor);
}

TEST_F(CeilingsOf, AProductIsWorthItsShape) {
  const double whole = ceilings(l4(), problem, counters, schedule).tensor;
  schedule.code[0].products = 0.5F;
  EXPECT_NEAR(ceilings(l4(), problem, counters, schedule).tensor, whole / 2, 1e-9);
}

// MUFU: 16 lanes an SM; a wavefront a clock; 0.83 sectors a clock.
TEST_F(CeilingsOf, MufuSharedMemoryAndTheSecondLevelHaveTheirs) {
  schedule.code[2].unit = Unit::mufu;
  ScheduledInstruction load = shared_load(2.5F), store = instruction(Unit::global_store), copy = load, cached = load;
  store.sectors = 3, copy.sectors = 2, cached.sectors = 50;
  copy.unit = Unit::async_copy, copy.bypasses_l1 = true, cached.unit = Unit::global_load;
  for (ScheduledInstruction* one : {&load, &store, &copy, &cached}) {
    one->issued = 1'000'000;
    schedule.code.push_back(*one);
  }
  const Ceilings of = ceilings(l4(), problem, counters, schedule);
  EXPECT_NEAR(of.mufu, 4e6 * 32 / 16 / (58 * 2040.0), 1e-9);
  EXPECT_NEAR(of.shared, 2 * 4e6 * 2.5 / (58 * 2040.0), 1e-9) << "the copy's wavefronts are shared memory's too";
  EXPECT_NEAR(of.l2, 4e6 * 5 / 0.83 / (58 * 2040.0), 1e-9) << "cached loads may all hit the first level";
}

TEST_F(CeilingsOf, WhatTheCacheDoesNotHoldComesFromMemory) {
  problem.batch = 64, problem.seq_q = problem.seq_k = 4096;
  EXPECT_EQ(ceilings(l4(), problem, counters, schedule).dram, 0) << "the kernel requests nothing";
  schedule.code[2] = instruction(Unit::global_load);
  schedule.code[2].sectors = 16;
  schedule.code[2].issued = 1'000'000;
  const Ceilings of = ceilings(l4(), problem, counters, schedule);
  EXPECT_NEAR(of.dram, 4.0 * 64 * 8 * 4096 * 64 * 2 / 300e9 * 1e6, 1);
  EXPECT_NEAR(of.l2, 4.0 * 64 * 8 * 4096 * 64 * 2 / 32 / 0.83 / (58 * 2040.0), 1e-6) << "and each byte passes it once";
}

// A problem that is not attention does not say what must be moved; its buffers do.
TEST_F(CeilingsOf, AnotherKernelMovesItsBuffersAsFarAsItRequestsThem) {
  problem.kind = ProblemKind::custom;
  schedule.buffers = {.read = 3e9, .written = 1e9};
  EXPECT_EQ(ceilings(l4(), problem, counters, schedule).dram, 0) << "the kernel requests nothing";
  ScheduledInstruction load = instruction(Unit::global_load), store = instruction(Unit::global_store);
  load.sectors = 16, store.sectors = 4;
  load.issued = store.issued = 1'000'000;
  schedule.code.push_back(load);
  schedule.code.push_back(store);
  const double loaded = 4e6 * 16 * 32, stored = 4e6 * 4 * 32;  // 2.0 and 0.5 GB
  EXPECT_NEAR(ceilings(l4(), problem, counters, schedule).dram, (loaded + stored) / 300e9 * 1e6, 1e-3);
  schedule.buffers = {.read = 1.5e9, .written = 0.2e9};
  EXPECT_NEAR(ceilings(l4(), problem, counters, schedule).dram, 1.7e9 / 300e9 * 1e6, 1e-3);
  EXPECT_NEAR(ceilings(l4(), problem, counters, schedule).l2, 1.7e9 / 32 / 0.83 / (58 * 2040.0), 1e-6);
  schedule.buffers = {.read = 20e6, .written = 20e6};
  EXPECT_EQ(ceilings(l4(), problem, counters, schedule).dram, 0) << "the second-level cache holds 48 MB";
}

TEST_F(CeilingsOf, TheRoofsAreTheRatesThatTheyDivideBy) {
  problem.batch = 64, problem.seq_q = problem.seq_k = 4096;
  schedule.code[2] = instruction(Unit::global_store);
  schedule.code[2].sectors = 16;
  schedule.code[2].issued = 1'000'000;
  const Ceilings of = ceilings(l4(), problem, counters, schedule);
  const Roofs at = roofs(l4());
  EXPECT_NEAR(4e6 * 32 * 2 / of.fp32 * 1e-6, at.fp32_tflops, 1e-9);
  EXPECT_NEAR(4e6 * 4096 / of.tensor * 1e-6, at.tensor_tflops, 1e-9);
  EXPECT_NEAR(4e6 * 16 * 32 / of.l2 * 1e-3, at.l2_gbs, 1e-6);
  EXPECT_NEAR(4.0 * 64 * 8 * 4096 * 64 * 2 / of.dram * 1e-3, at.dram_gbs, 1e-6);
}

TEST_F(CeilingsOf, NothingCountedAsksForNothing) {
  counters = {};
  EXPECT_EQ(ceilings(l4(), problem, counters, schedule).highest(), 0);
}

}  // namespace
}  // namespace attnscope::model
