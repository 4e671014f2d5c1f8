// The simulated SM compared with clocks that can be counted by hand.
#include "model/sm_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/rates.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

SmRun run(const KernelSchedule& s, int64_t ctas = 1, int64_t resident = 1, const DeviceSpec& spec = round_rates()) {
  return simulate_sm(spec, s, {SmCtas(static_cast<size_t>(ctas)), resident});
}

// Clocks of the terms.
double of(const SmRun& run, std::initializer_list<TermKind> terms) {
  double sum = 0;
  for (const Stall& stall : run.stalls)
    if (std::ranges::find(terms, stall.term) != terms.end()) sum += stall.time;
  return sum;
}

double clocks(const KernelSchedule& s, int64_t ctas = 1, int64_t resident = 1) { return run(s, ctas, resident).clocks; }

// Clocks of one pass through a block of one warp, after the start.
double per_pass(const std::vector<ScheduledInstruction>& block, const DeviceSpec& spec = round_rates()) {
  return (run(schedule({block}, {times(200)}), 1, 1, spec).clocks -
          run(schedule({block}, {times(100)}), 1, 1, spec).clocks) /
         100;
}

TEST(SmSimulation, DependentInstructionsTakeTheirStallCounts) {
  const std::vector<ScheduledInstruction> block(10, instruction(Unit::fp32, 4));
  EXPECT_NEAR(clocks(schedule({block}, {times(20)})) - clocks(schedule({block}, {times(10)})), 10 * 10 * 4, 1e-9);
}

TEST(SmSimulation, AUnitHoldsTheNextInstruction) {
  // HADD2.F32 at 64 lanes a clock: two clocks of a scheduler's share, whatever the stall count.
  const std::vector<ScheduledInstruction> block(10, instruction(Unit::half_to_float));
  EXPECT_NEAR(clocks(schedule({block}, {times(20)})) - clocks(schedule({block}, {times(10)})), 200, 1e-9);
  const std::vector<ScheduledInstruction> fast(10, instruction(Unit::fp32));
  EXPECT_NEAR(clocks(schedule({fast}, {times(20)})) - clocks(schedule({fast}, {times(10)})), 100, 1e-9);
}

ScheduledInstruction reading(uint8_t even, uint8_t odd) {
  ScheduledInstruction i = instruction(Unit::fp32);
  i.bank_reads = i.bank_reads_alone = {even, odd};
  return i;
}

// As an H200's FFMA do (tests/data/gpu/h200_registers.txt).
TEST(SmSimulation, ABankDeliversARegisterAClock) {
  const ScheduledInstruction none = reading(0, 0), three = reading(3, 0);
  const auto each = [](const std::vector<ScheduledInstruction>& block) {
    return per_pass(block) / double(block.size());
  };
  EXPECT_NEAR(each({none, none}), 1, 1e-6);
  EXPECT_NEAR(each({reading(1, 1), reading(1, 1)}), 1, 1e-6);
  EXPECT_NEAR(each({reading(2, 1), reading(2, 1)}), 2, 1e-6);
  EXPECT_NEAR(each({three, three}), 3, 1e-6);
  EXPECT_NEAR(each({three, reading(0, 3)}), 1.5, 1e-6);
  EXPECT_NEAR(each({three, none, none}), 1, 1e-6) << "the next ones need nothing meanwhile";
  EXPECT_NEAR(each({three, three, none, none, none, none}), 8.0 / 6, 1e-6);
}

TEST(SmSimulation, AWarpFindsWhatItsLastInstructionLeftUnlessAnotherCameBetween) {
  ScheduledInstruction i = instruction(Unit::fp32, 2);
  i.bank_reads = {1, 0};
  i.bank_reads_alone = {3, 0};
  const std::vector<ScheduledInstruction> block(10, i);
  const double lone = clocks(schedule({block}, {times(100)}));
  EXPECT_NEAR(lone, 2 * 1000, 5);
  EXPECT_GT(clocks(schedule({block}, std::vector(8, times(100)))), 1.5 * lone) << "two on each scheduler take turns";
}

// HADD2.F32 and IMAD have one of the two pipes that FP32 has.
TEST(SmSimulation, Fp32HasTwoPipesAndSharesOne) {
  const ScheduledInstruction ffma = instruction(Unit::fp32), imad = instruction(Unit::imad),
                             convert = instruction(Unit::half_to_float);
  EXPECT_NEAR(per_pass({ffma, imad}), 2, 1e-6);
  EXPECT_NEAR(per_pass({imad, convert}), 4, 1e-6);
  EXPECT_NEAR(per_pass({ffma, ffma, imad}), 4, 1e-6);
  DeviceSpec older = round_rates();
  older.arch = 80;
  EXPECT_NEAR(per_pass({imad, convert}, older), 2, 1e-6);
}

// Two CTAs of two warps have a scheduler for each warp. With CTAs of four warps whose first one works longest, the
// first warps do not share a scheduler.
TEST(SmSimulation, CtasOnAnSmShareOutTheSchedulers) {
  const std::vector<ScheduledInstruction> block(1000, instruction(Unit::fp32));
  const KernelSchedule two = schedule({block}, {times(10), times(10)});
  EXPECT_NEAR(clocks(two, 2, 2), clocks(two), 1e-6);
  EXPECT_NEAR(clocks(two, 3, 3), 2 * clocks(two), 0.01 * clocks(two));
  const KernelSchedule uneven = schedule({block}, {times(10), times(1), times(1), times(1)});
  EXPECT_LT(clocks(uneven, 4, 4), 1.5 * clocks(uneven));
}

TEST(SmSimulation, AProductKeepsTheSchedulerFromIssuing) {
  DeviceSpec spec = round_rates();
  spec.rates["mma_16816"] = 6;
  spec.rates["mma_issue"] = 3;
  std::vector<ScheduledInstruction> block(9, instruction(Unit::fp32));
  block[0] = instruction(Unit::tensor);
  EXPECT_NEAR(per_pass(block, spec), 11, 1e-6);
  block.resize(2);
  EXPECT_NEAR(per_pass(block, spec), 6, 1e-6);
}

TEST(SmSimulation, AWideSharedLoadKeepsTheSchedulerFromIssuing) {
  DeviceSpec spec = round_rates();
  spec.rates["wide_load_issue"] = 2.5;
  std::vector<ScheduledInstruction> block(10, instruction(Unit::fp32));
  block[0] = instruction(Unit::shared_load);
  EXPECT_NEAR(per_pass(block, spec), 10, 1e-6);
  block[0].wide = true;
  EXPECT_NEAR(per_pass(block, spec), 11.5, 1e-6);
  const SmRun r = run(schedule({block}, {times(100)}), 1, 1, spec);
  EXPECT_NEAR(of(r, {TermKind::issue}), 1150, 20) << "that time is issue too";
}

TEST(SmSimulation, BehindAProductTheBanksServeOnlyProductsForAWhile) {
  DeviceSpec spec = round_rates();
  spec.rates["mma_16816"] = 6;
  spec.rates["mma_issue"] = 3;
  ScheduledInstruction product = instruction(Unit::tensor);
  product.bank_reads = product.bank_reads_alone = {5, 5};
  std::vector<ScheduledInstruction> block(5, reading(1, 1));
  block[0] = product;
  EXPECT_NEAR(per_pass(block, spec), 5 + 4, 1e-6);
  spec.rates["mma_banks"] = 2;
  EXPECT_NEAR(per_pass(block, spec), 5 + 2 + 4, 1e-6);
  EXPECT_NEAR(per_pass({product, product}, spec), 12, 1e-6);
}

TEST(SmSimulation, TheFirstProductFindsFreeBanks) {
  DeviceSpec spec = round_rates();
  spec.rates["mma_16816"] = spec.rates["mma_issue"] = 1;
  ScheduledInstruction product = reading(8, 8);
  product.unit = Unit::tensor;
  EXPECT_NEAR(run(schedule({{product}}, {times(1)}), 1, 1, spec).clocks, 1, 1e-9);
}

TEST(SmSimulation, WhereFewSmsAskTheyGetMoreOfTheSecondLevel) {
  DeviceSpec spec = round_rates();
  spec.sms = 100;
  spec.rates["l2_sectors"] = 0.5;
  spec.rates["l2_port"] = 4;
  spec.rates["l2_port_of_many"] = 3.2;
  ScheduledInstruction load = instruction(Unit::global_load);
  load.passes = 1, load.sectors = 16;
  const KernelSchedule s = schedule({std::vector(10, load)}, {times(100)});
  const auto with = [&](int64_t readers) {
    SmLoad on_sm{{0}, 1};
    on_sm.readers = readers;
    return simulate_sm(spec, s, on_sm).clocks;
  };
  EXPECT_NEAR(with(100), 1000 * 32, 400);
  EXPECT_NEAR(with(0), 1000 * 32, 400) << "all of them";
  EXPECT_NEAR(with(500), 1000 * 32, 400) << "CTAs that wait do not read";
  EXPECT_NEAR(with(50), 1000 * 16, 400);
  EXPECT_NEAR(with(8), 1000 * 5, 400) << "as much as an SM among many takes";
  EXPECT_NEAR(with(7), 1000 * 4, 400) << "as much as an SM takes";
  EXPECT_NEAR(with(1), 1000 * 4, 400);
}

TEST(SmSimulation, WarpsShareTheFourSchedulers) {
  const std::vector<ScheduledInstruction> block(10, instruction(Unit::fp32));
  const auto of = [&](size_t warps) { return clocks(schedule({block}, std::vector(warps, times(100)))); };
  EXPECT_NEAR(of(4), of(1), 2);
  EXPECT_NEAR(of(8), 2 * of(1), 4);
  EXPECT_NEAR(of(16), 4 * of(1), 8);
}

TEST(SmSimulation, ALoneWarpGetsEveryOtherWavefront) {
  // Measured by tests/gpu/rates.cu: 32 wavefronts take 64 clocks for a single warp, 32 clocks each for two warps
  // together.
  const std::vector<ScheduledInstruction> block{shared_load(32), shared_load(32), use()};
  const double one = clocks(schedule({block}, {times(100)})), two = clocks(schedule({block}, {times(100), times(100)}));
  EXPECT_NEAR(one / 200, 64, 15);
  EXPECT_NEAR(two / one, 1, 0.05);
  const double four = clocks(schedule({block}, std::vector(4, times(100))));
  EXPECT_NEAR(four / (4 * 200), 32, 1);
}

TEST(SmSimulation, ALoadsLatencyIsWaitedFor) {
  const std::vector<ScheduledInstruction> block{shared_load(1), use()};
  EXPECT_NEAR((clocks(schedule({block}, {times(200)})) - clocks(schedule({block}, {times(100)}))) / 100, 20 + 1, 1);
  const SmRun r = run(schedule({block}, {times(100)}));
  EXPECT_GT(of(r, {TermKind::shared_latency}), 0.8 * r.clocks);
}

TEST(SmSimulation, AResultIsThereAfterItsLatency) {
  DeviceSpec spec = round_rates();
  spec.rates["latency_constant"] = 40;
  for (const auto& [unit, latency, wait] : {std::tuple{Unit::mufu, 16, TermKind::mufu_latency},
                                            {Unit::conversion, 16, TermKind::mufu_latency},
                                            {Unit::shuffle, 24, TermKind::shuffle_latency},
                                            {Unit::constant_load, 40, TermKind::constant_latency},
                                            {Unit::integer, 16, TermKind::instruction_latency},
                                            {Unit::shared_load, 20, TermKind::shared_latency}}) {
    ScheduledInstruction load = instruction(unit);
    load.write_scoreboard = 0;
    load.passes = 1;
    EXPECT_NEAR(per_pass({load, use()}, spec), latency + 1, 1e-6) << int(unit);
    const SmRun r = run(schedule({{load, use()}}, {times(100)}), 1, 1, spec);
    EXPECT_NEAR(of(r, {wait}), 100 * (latency - 1), 2) << int(unit);
  }
}

TEST(SmSimulation, AnInstructionWaitsForTheScoreboardsOfItsMaskOnly) {
  for (int one = 0; one < 6; ++one)
    for (int other = 0; other < 6; ++other) {
      ScheduledInstruction load = shared_load(1), user = instruction(Unit::fp32);
      load.write_scoreboard = static_cast<uint8_t>(one);
      user.wait_mask = static_cast<uint8_t>(1 << other);
      if (one == other)
        EXPECT_NEAR(per_pass({load, user}), 20 + 1, 1e-6) << one;
      else
        EXPECT_LT(per_pass({load, user}), 10) << one << " and " << other;
    }
}

TEST(SmSimulation, MemoryIsAsFarAsItsLevel) {
  // Local loads are taken to hit the first level.
  for (const auto& [unit, clocks, l2] : {std::tuple{Unit::global_load, 300, 100},
                                         {Unit::global_store, 300, 100},
                                         {Unit::local_store, 300, 100},
                                         {Unit::local_load, 30, 0}}) {
    ScheduledInstruction access = instruction(unit);
    access.write_scoreboard = 0;
    access.passes = access.sectors = 1;
    EXPECT_NEAR(per_pass({access, use()}), clocks + 1, 1.5) << int(unit);
    const SmRun r = run(schedule({{access, use()}}, {times(100)}));
    EXPECT_NEAR(of(r, {TermKind::global_latency, TermKind::local_latency, TermKind::l2_bandwidth}), 100 * clocks, 200)
        << int(unit);
    EXPECT_NEAR(of(r, {TermKind::l2_bandwidth}), l2, 1e-6) << int(unit);
    // For the first access everything is free: it takes its sector, its latency, and the instruction that waits for it,
    // which holds its pipe for two clocks.
    const double first = run(schedule({{access, use()}}, {times(1)})).clocks;
    EXPECT_NEAR(first, clocks + (l2 > 0 ? 1 : 0) + 2, 1e-6) << int(unit);
  }
}

// A store's operands may be overwritten after its turn, when it has read them, long before it is done.
TEST(SmSimulation, AStoreHoldsItsOperandsOnlyUntilTheyAreRead) {
  for (const Unit unit : {Unit::shared_store, Unit::global_store, Unit::shuffle}) {
    ScheduledInstruction store = instruction(unit);
    store.read_scoreboard = 0;
    store.passes = store.sectors = 1;
    EXPECT_NEAR(per_pass({store, use()}), 8 + 1, 1) << int(unit);
  }
}

TEST(SmSimulation, EachUnitIsHeldByItsRate) {
  // Clocks of a scheduler's quarter of the unit: 32 lanes at a quarter of `lanes` per clock.
  for (const auto& [unit, lanes] : {std::pair{Unit::fp32, 128},
                                    {Unit::fp16x2, 64},
                                    {Unit::half_to_float, 64},
                                    {Unit::fp64, 2},
                                    {Unit::integer, 64},
                                    {Unit::imad, 64},
                                    {Unit::mufu, 16},
                                    {Unit::conversion, 16},
                                    {Unit::uniform, 64}}) {
    EXPECT_NEAR(per_pass({instruction(unit)}), 32.0 * 4 / lanes, 1e-6) << int(unit);
  }
  for (const Unit unit : {Unit::control, Unit::constant_load}) EXPECT_NEAR(per_pass({instruction(unit)}), 1, 1e-6);
}

TEST(SmSimulation, AProductTakesWhatWasMeasuredOrTheDataSheetsShare) {
  DeviceSpec spec = round_rates();
  spec.sms = 100, spec.clock_mhz = 1000, spec.tensor_tflops_f16 = 102.4;  // 256 flop a clock of each scheduler
  EXPECT_NEAR(per_pass({instruction(Unit::tensor)}, spec), 4096 / 256.0, 1e-6);
  spec.rates["tensor_clock_mhz"] = 500;  // the same in half the clocks
  EXPECT_NEAR(per_pass({instruction(Unit::tensor)}, spec), 4096 / 512.0, 1e-6);
  ScheduledInstruction of_doubles = instruction(Unit::tensor);
  of_doubles.fp64 = true;  // runs at all 1,000 MHz
  EXPECT_NEAR(per_pass({of_doubles}, spec), 4096 / 256.0, 1e-6);
  spec.rates["mma_16816"] = 9;
  EXPECT_NEAR(per_pass({instruction(Unit::tensor)}, spec), 9, 1e-6);
  EXPECT_NEAR(per_pass({of_doubles}, spec), 4096 / 256.0, 1e-6);
  spec.rates["mma_16816"] = 33;
  EXPECT_NEAR(per_pass({instruction(Unit::tensor)}, spec), 33, 1e-6);
  EXPECT_NEAR(per_pass({of_doubles}, spec), 33, 1e-6);
}

TEST(SmSimulation, ManyWarpsShareTheShuffleUnit) {
  ScheduledInstruction shuffle = instruction(Unit::shuffle);
  shuffle.write_scoreboard = 0;
  // 32 lanes per clock and SM: one shuffle per clock, for which 40 warps wait longer than its latency.
  const SmRun r = run(schedule({{shuffle, use()}}, std::vector(40, times(100))));
  EXPECT_NEAR(r.clocks, 40 * 100, 60);
}

TEST(SmSimulation, AJumpTakenCostsABranch) {
  DeviceSpec spec = round_rates();
  spec.rates["latency_branch"] = 8;
  const std::vector<ScheduledInstruction> block(4, instruction(Unit::fp32));
  const auto of = [&](const std::vector<uint32_t>& visits) {
    return run(schedule({block, block}, {visits}), 1, 1, spec).clocks;
  };
  EXPECT_NEAR(of({0, 1}) - of({0}), 4, 1e-6) << "the next block follows";
  EXPECT_NEAR(of({0, 0}) - of({0}), 4 + 8, 1e-6);
  EXPECT_NEAR(of({0, 1, 0}) - of({0, 1}), 4 + 8, 1e-6);
}

TEST(SmSimulation, ACtaTakesTimeToStart) {
  DeviceSpec spec = round_rates();
  spec.rates["cta_start"] = 100;
  const auto s = schedule({std::vector(10, instruction(Unit::fp32, 4))}, {times(100)});
  const auto of = [&](int64_t ctas, int64_t resident) { return run(s, ctas, resident, spec).clocks; };
  EXPECT_NEAR(of(2, 2) - of(1, 1), 100, 8) << "the second begins that much later";
  EXPECT_NEAR(of(3, 1) - of(1, 1), 2 * (4000 + 100), 8);
}

TEST(SmSimulation, WarpsArriveAtABarrierOneByOne) {
  DeviceSpec spec = round_rates();
  spec.rates["barrier_arrival"] = 5;
  const auto s = schedule({{instruction(Unit::barrier)}}, std::vector(4, times(50)));
  EXPECT_NEAR(run(s, 1, 1, spec).clocks - run(s).clocks, 50 * 3 * 5, 20);
}

// A warp that only stores continues until 64 clocks of work are queued: one wavefront every second clock.
TEST(SmSimulation, AWarpQueuesOnlySoManyWavefronts) {
  ScheduledInstruction store = instruction(Unit::shared_store);
  store.passes = 4;
  const std::vector<ScheduledInstruction> work(200, instruction(Unit::fp32));
  EXPECT_NEAR(clocks(schedule({std::vector(100, store), work}, {{0, 1}})), 100 * 8 - 64 + 200, 10);
}

// A kernel ends when all of its work is done, whether or not an instruction waits for it.
TEST(SmSimulation, WhatIsQueuedInTheEndTakesItsTime) {
  ScheduledInstruction shared = instruction(Unit::shared_store), global = instruction(Unit::global_store);
  shared.passes = 32, global.passes = 1, global.sectors = 500;
  for (const auto& [last, clocks, term] : {std::tuple{shared, 32.0, TermKind::shared_wavefronts},
                                           {global, 500.0, TermKind::l2_bandwidth},
                                           {instruction(Unit::fp64), 64.0, TermKind::fp64}}) {
    const SmRun r = run(schedule({{last}}, {{0}}));
    EXPECT_NEAR(r.clocks, clocks, 1e-6) << int(last.unit);
    EXPECT_NEAR(of(r, {term}), clocks - 1, 1e-6) << int(last.unit);
    EXPECT_NEAR(sum_of(r.stalls), r.clocks, 1e-6) << int(last.unit);
  }
}

// The CTA's first warp ends early, but its load arrives after the other warp's last instruction.
TEST(SmSimulation, ACtaEndsWhenTheResultsOfEveryWarpAreThere) {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = load.sectors = 1;
  const std::vector<ScheduledInstruction> work(10, instruction(Unit::fp32));
  const SmRun r = run(schedule({{load}, work}, {{0}, {1}}));
  EXPECT_NEAR(r.clocks, 301, 1);
  EXPECT_NEAR(sum_of(r.stalls), r.clocks, 1e-6);
}

// Stores that nothing waits for do not outrun the second level: the queue holds as much as is under way.
TEST(SmSimulation, StoresWaitForRoom) {
  ScheduledInstruction store = instruction(Unit::global_store);
  store.passes = 1, store.sectors = 16;
  const std::vector<ScheduledInstruction> work(1000, instruction(Unit::fp32));
  const SmRun r = run(schedule({std::vector(100, store), work}, {{0, 1}}));
  EXPECT_NEAR(r.clocks, 100 * 16 - 300 + 1000, 40);
  EXPECT_GT(of(r, {TermKind::l2_bandwidth}), 1000);
}

// Memory serves one sector in four clocks, the second level one per clock.
TEST(SmSimulation, WhatComesFromMemoryTakesItsBandwidth) {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = 4, load.sectors = 16;
  SmLoad memory{SmCtas(1), 1};
  memory.dram_sector = 4;
  const SmRun r = simulate_sm(round_rates(), schedule({{load, use()}}, std::vector(32, times(50))), memory);
  EXPECT_NEAR(r.clocks, 32 * 50 * 16 * 4 + rates::kLatencyDram.fallback, 10) << "and the last load arrives";
  EXPECT_GT(of(r, {TermKind::dram_bandwidth}), 0.9 * r.clocks);
}

TEST(SmSimulation, LoadsWaitForMemoryIfTheSecondLevelCannotHoldTheirData) {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = 1, load.sectors = 4;
  const auto chain = schedule({{load, use()}}, {times(50)});
  SmLoad memory{SmCtas(1), 1};
  const double cached = simulate_sm(round_rates(), chain, memory).clocks;
  memory.dram_sector = 0.01;  // bandwidth in plenty
  const SmRun r = simulate_sm(round_rates(), chain, memory);
  EXPECT_NEAR(r.clocks - cached, 50 * (rates::kLatencyDram.fallback - rates::rate(round_rates(), rates::kLatencyL2)),
              50);
  EXPECT_GT(of(r, {TermKind::global_latency}), 0.9 * r.clocks);
}

// 32 warps whose requests take eight turns each, for which the second level takes two clocks.
TEST(SmSimulation, AtomicsThatMeetAreMadeOneAfterTheOther) {
  ScheduledInstruction add = instruction(Unit::global_store);
  add.passes = add.sectors = 1;
  add.turns = 8;
  SmLoad load{SmCtas(1), 1};
  load.readers = 1;
  const auto s = schedule({{add, use()}}, std::vector(32, times(50)));
  const SmRun apart = simulate_sm(round_rates(), s, load);
  EXPECT_NEAR(apart.clocks, 32 * 50 * 8, 50) << "an SM takes one turn a clock";
  EXPECT_EQ(of(apart, {TermKind::atomics}), 0);
  load.atomic_turn = 2;
  const SmRun r = simulate_sm(round_rates(), s, load);
  EXPECT_NEAR(r.clocks, 32 * 50 * 16, 50);
  EXPECT_GT(of(r, {TermKind::atomics}), 0.9 * r.clocks);
  EXPECT_NEAR(sum_of(r.stalls), r.clocks, 1e-6 * r.clocks);
  for (const Stall& stall : r.stalls) EXPECT_TRUE(stall.term != TermKind::atomics || stall.producer == 0);
  EXPECT_NEAR(simulate_sm(round_rates(), folded(s), load).clocks, r.clocks, 0.01 * r.clocks)
      << "loops that are skipped";
}

TEST(SmSimulation, WavefrontsOfSharedAtomicsAreAtomics) {
  ScheduledInstruction add = shared_load(16);
  add.turns = 16;
  const SmRun r = run(schedule({{add, use()}}, std::vector(32, times(50))));
  EXPECT_NEAR(r.clocks, 32 * 50 * 16, 100);
  EXPECT_GT(of(r, {TermKind::atomics}), 0.9 * r.clocks);
}

TEST(SmSimulation, FewerLanesConflictLess) {
  auto s = schedule({{shared_load(24), use()}}, {times(100)});
  s.code[0].lanes = 24;  // the mean of warps with 32 and 16 lanes
  const double mean = clocks(s);
  for (Visit& visit : s.traces[0].warps[0]) visit.lanes = 32;
  const double full = clocks(s);
  for (Visit& visit : s.traces[0].warps[0]) visit.lanes = 16;
  EXPECT_EQ(mean, full);  // Visit's default is a full warp
  EXPECT_NEAR((full - clocks(s)) / 100, 2 * (32 - 16), 0.5);
}

TEST(SmSimulation, ABarrierWaitsForTheLast) {
  const std::vector<ScheduledInstruction> work(100, instruction(Unit::fp32, 4)), bar{instruction(Unit::barrier)};
  // Warp 0 works before the barrier, warp 1 after it: one after the other.
  const auto s = schedule({work, bar}, {{0, 0, 1}, {1, 0}});
  EXPECT_NEAR(clocks(s), 800 + 10 + 400, 8);
}

TEST(SmSimulation, WarpsThatPassABarrierUnevenlyDoNotHang) {
  const std::vector<ScheduledInstruction> work(10, instruction(Unit::fp32, 4)), bar{instruction(Unit::barrier)};
  const auto s = schedule({work, bar}, {{0, 1, 0, 1, 0, 1, 0}, {0, 1, 0}});
  EXPECT_NEAR(clocks(s), 4 * 40 + 3 * 10, 12);
  EXPECT_TRUE(run(s).complete);
}

TEST(SmSimulation, CtasTakePlacesAsTheyComeFree) {
  const std::vector<ScheduledInstruction> block(100, instruction(Unit::fp32, 4));
  const auto s = schedule({block}, {times(10)});
  const double one = clocks(s);
  EXPECT_NEAR(clocks(s, 2, 2), one, 4);      // side by side
  EXPECT_NEAR(clocks(s, 2, 1), 2 * one, 4);  // one after the other
  EXPECT_NEAR(clocks(s, 3, 2), 2 * one, 8);  // a tail
}

TEST(SmSimulation, DistinctBytesDecideWhatMisses) {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = 4, load.sectors = 16;
  auto s = schedule({{load, use()}}, {times(100)});
  const double all_miss = clocks(s);
  s.global_bytes_per_cta = 16 * 32 * 25;  // a quarter of the requested bytes
  const double quarter = clocks(s);
  EXPECT_NEAR(all_miss / 100, 300 + 16, 10);
  EXPECT_NEAR((all_miss - quarter) / 75, 300 + 16 - 30 - 6, 12);
}

TEST(SmSimulation, TheLimitExtrapolates) {
  const std::vector<ScheduledInstruction> block(10, instruction(Unit::fp32, 4));
  const auto s = schedule({block}, {times(1000)});
  SmLoad load;
  load.step_limit = 2500;
  const SmRun part = simulate_sm(round_rates(), s, load);
  EXPECT_FALSE(part.complete);
  EXPECT_EQ(part.instructions, 2500);
  EXPECT_NEAR(part.clocks / clocks(s), 1, 0.01);
}

// Of eight runs three show that two are equal, and the last is simulated.
TEST(SmSimulation, EqualRunsOfAShortLoopPassAtOnce) {
  const std::vector<ScheduledInstruction> block(100, instruction(Unit::fp32, 4));
  const auto s = folded(schedule({block}, {times(8), times(8)}));
  SmLoad some, all;
  all.repeat = false;
  const SmRun skipped = simulate_sm(round_rates(), s, some), whole = simulate_sm(round_rates(), s, all);
  EXPECT_EQ(whole.steps, 2 * 8 * 100);
  EXPECT_NEAR(double(skipped.steps), 2 * 4 * 100, 2);
  EXPECT_EQ(skipped.instructions, whole.instructions);
  EXPECT_NEAR(skipped.clocks, whole.clocks, 1e-6);
  some.ctas = SmCtas(3);
  EXPECT_NEAR(double(simulate_sm(round_rates(), s, some).steps), 2 * (8 + 8 + 4) * 100, 2) << "only in the last CTA";
  some = {SmCtas(2), 2};
  EXPECT_EQ(simulate_sm(round_rates(), s, some).steps, 2 * 2 * 8 * 100) << "and beside no other";
}

// Every second run goes to the second level.
TEST(SmSimulation, UnequalRunsOfAShortLoopAreSimulated) {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = load.sectors = 1;
  auto s = folded(schedule({{load, use()}}, {times(8)}));
  s.code[0].issued = 8;
  s.global_bytes_per_cta = 8 * 32 / 2;
  EXPECT_EQ(simulate_sm(round_rates(), s, {}).steps, 2 * 8);
  s.global_bytes_per_cta = 0;
  EXPECT_LT(simulate_sm(round_rates(), s, {}).steps, 2 * 8) << "all do";
}

TEST(SmSimulation, EachCtaTakesItsOwnTrace) {
  const std::vector<ScheduledInstruction> block(10, instruction(Unit::fp32, 4));
  auto s = schedule({block}, {times(10)});
  s.traces.push_back({7, {std::vector<Visit>(100, Visit{0, 32})}});
  EXPECT_NEAR(simulate_sm(round_rates(), s, {{0}, 1}).clocks, 400, 8);
  EXPECT_NEAR(simulate_sm(round_rates(), s, {{1}, 1}).clocks, 4000, 8);
  EXPECT_NEAR(simulate_sm(round_rates(), s, {{0, 1, 0}, 1}).clocks, 4800, 16);
  EXPECT_NEAR(simulate_sm(round_rates(), s, {{0, 1, 0}, 2}).clocks, 4000, 16) << "beside the long one";
}

TEST(SmSimulation, AHalfProductHoldsHalfAsLong) {
  ScheduledInstruction product = instruction(Unit::tensor);
  const double whole = clocks(schedule({std::vector(10, product)}, {times(100)}));
  product.products = 0.5F;
  EXPECT_NEAR(clocks(schedule({std::vector(10, product)}, {times(100)})) / whole, 0.5, 0.01);
}

// Busy times cover the simulated clocks, not the extrapolated ones.
TEST(SmSimulation, TheLimitKeepsWhatWasSimulatedApart) {
  const std::vector<ScheduledInstruction> block(10, instruction(Unit::fp32, 4));
  const auto s = schedule({block}, {times(1000)});
  SmLoad load;
  load.step_limit = 2500;
  const SmRun part = simulate_sm(round_rates(), s, load);
  EXPECT_NEAR(part.simulated, 10000, 8);
  EXPECT_NEAR(part.clocks, 40000, 40);
  const SmRun whole = simulate_sm(round_rates(), s, {});
  EXPECT_EQ(whole.simulated, whole.clocks);
}

TEST(SmSimulation, NothingToRunIsNothing) {
  EXPECT_EQ(clocks(KernelSchedule{}), 0);
  EXPECT_EQ(clocks(schedule({{instruction(Unit::fp32)}}, {times(1)}), 0), 0);
}

// An asynchronous copy through the second level: 300 clocks there, 20 into shared memory.
ScheduledInstruction copy(bool bypasses_l1 = true) {
  ScheduledInstruction i = instruction(Unit::async_copy);
  i.bypasses_l1 = bypasses_l1;
  i.passes = i.sectors = 1;
  return i;
}
ScheduledInstruction close_group() {
  ScheduledInstruction i = instruction(Unit::control);
  i.closes_copies = true;
  return i;
}
ScheduledInstruction await(int pending) {
  ScheduledInstruction i = instruction(Unit::control);
  i.copies_pending = static_cast<int8_t>(pending);
  return i;
}

TEST(SmSimulation, AsynchronousCopiesAreWaitedForByGroups) {
  const double waited = clocks(schedule({{copy(), close_group(), await(0)}}, {times(1)}));
  EXPECT_GT(waited, 320);
  EXPECT_LT(waited, 330);
  EXPECT_LT(clocks(schedule({{copy(), close_group()}}, {times(1)})), 10) << "nothing waits for it";
  // The warp waits for the first group while the second, which began a hundred clocks later, is pending.
  const std::vector<ScheduledInstruction> work(100, instruction(Unit::fp32));
  const std::vector<ScheduledInstruction> one{copy(), close_group()};
  const double first = clocks(schedule({one, work, {copy(), close_group(), await(1)}}, {{0, 1, 2}}));
  const double both = clocks(schedule({one, work, {copy(), close_group(), await(0)}}, {{0, 1, 2}}));
  EXPECT_NEAR(first, waited, 5);
  EXPECT_NEAR(both - first, 102, 5);
}

TEST(SmSimulation, CopiesOfTheCtaBeforeAreNotWaitedFor) {
  const auto s =
      schedule({{close_group(), await(0), copy()}}, {times(1)});  // a copy that its own CTA does not wait for
  EXPECT_LT(clocks(s, 2, 1), 20);
}

TEST(SmSimulation, CopiesThatMayHitTheFirstLevelDo) {
  KernelSchedule kept = schedule({{copy(false), close_group(), await(0)}}, {times(10)});
  kept.global_bytes_per_cta = 32;  // one sector of ten: the others have arrived by then
  KernelSchedule bypassed = schedule({{copy(), close_group(), await(0)}}, {times(10)});
  bypassed.global_bytes_per_cta = 32;
  EXPECT_NEAR(clocks(bypassed) - clocks(kept), 9 * 270, 30);
}

}  // namespace
}  // namespace attnscope::model
