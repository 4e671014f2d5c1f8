// Where the clocks of hand-made traces go, compared with what can be counted by hand.
#include "model/attribution.h"

#include <gtest/gtest.h>

#include "model/sm_simulation.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

// Every split is checked for its sum; nothing here is unexplained.
SmRun run(const KernelSchedule& s, int64_t ctas = 1, int64_t resident = 1, const DeviceSpec& spec = round_rates()) {
  SmRun done = simulate_sm(spec, s, {SmCtas(static_cast<size_t>(ctas)), resident});
  EXPECT_NEAR(sum_of(done.stalls), done.clocks, 1e-9 * done.clocks);
  for (const Stall& stall : done.stalls) {
    EXPECT_GT(stall.time, 0);
    EXPECT_NE(stall.term, TermKind::other);
  }
  return done;
}

// Clocks of the term, and of the part that the producer carries and the consumer waits, if given.
double of(const SmRun& run, TermKind term, uint32_t producer = Stall::kNone, uint32_t consumer = Stall::kNone) {
  double sum = 0;
  for (const Stall& stall : run.stalls)
    if (stall.term == term && (producer == Stall::kNone || stall.producer == producer) &&
        (consumer == Stall::kNone || stall.consumer == consumer))
      sum += stall.time;
  return sum;
}

ScheduledInstruction global_load(uint8_t scoreboard = 0) {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = scoreboard;
  load.passes = load.sectors = 1;
  return load;
}

// Two warps on the same scheduler: a scheduler takes every fourth warp.
std::vector<std::vector<uint32_t>> beside(const std::vector<uint32_t>& one, const std::vector<uint32_t>& other) {
  return {one, {}, {}, {}, other};
}

TEST(Attribution, OneWarpsWaitForAGlobalLoadIsTheLoads) {
  // One clock to issue the load, the rest of its 300, one clock for its sector, and one to issue the instruction that
  // uses it.
  const SmRun r = run(schedule({{global_load(), use()}}, {times(100)}));
  EXPECT_NEAR(r.clocks, 100 * 302 + 1, 1e-6) << "and another until the last one's pipe is empty";
  EXPECT_NEAR(of(r, TermKind::global_latency, 0, 1), 100 * 299, 1e-6);
  EXPECT_NEAR(of(r, TermKind::l2_bandwidth, 0, 1), 100, 1e-6);
  EXPECT_NEAR(of(r, TermKind::issue, 0, 0), 100, 1e-6);
  EXPECT_NEAR(of(r, TermKind::issue, 1, 1), 100, 1e-6);
}

TEST(Attribution, AnotherWarpsWorkHidesTheWait) {
  const std::vector<ScheduledInstruction> work(400, instruction(Unit::fp32));
  const auto s = schedule({{global_load(), use()}, work}, beside({0}, {1}));
  const SmRun r = run(s);
  EXPECT_NEAR(r.clocks, 402, 1);
  EXPECT_NEAR(of(r, TermKind::issue), 402, 1);
  EXPECT_EQ(of(r, TermKind::global_latency), 0);
  // Half of it: the load's data arrives 301 clocks after the load, and the other warp fills 150 of them.
  const std::vector<ScheduledInstruction> less(150, instruction(Unit::fp32));
  const SmRun half = run(schedule({{global_load(), use()}, less}, beside({0}, {1})));
  EXPECT_NEAR(of(half, TermKind::global_latency, 0, 1), 300 - 150, 1);
}

TEST(Attribution, AWaitForTwoResultsIsEachOnesPart) {
  ScheduledInstruction near = shared_load(1), both = use();
  both.wait_mask = 3;
  for (const bool far_first : {false, true}) {
    const std::vector<ScheduledInstruction> block =
        far_first ? std::vector{global_load(1), near, both} : std::vector{near, global_load(1), both};
    const uint32_t shared = far_first ? 1 : 0, global = far_first ? 0 : 1;
    const SmRun r = run(schedule({block}, {times(1)}));
    EXPECT_NEAR(of(r, TermKind::shared_latency, shared, 2), far_first ? 19 : 18, 1) << far_first;
    EXPECT_NEAR(of(r, TermKind::global_latency, global, 2), 300 - (far_first ? 20 : 18), 2) << far_first;
    EXPECT_EQ(of(r, TermKind::shared_latency, global), 0);
    EXPECT_EQ(of(r, TermKind::global_latency, shared), 0);
  }
}

TEST(Attribution, APipeAtItsRateIsTheTimeBetweenIssues) {
  for (const auto& [unit, clocks, term] : {std::tuple{Unit::half_to_float, 2, TermKind::half_conversions},
                                           {Unit::fp16x2, 2, TermKind::fp16},
                                           {Unit::fp64, 64, TermKind::fp64},
                                           {Unit::integer, 2, TermKind::integer},
                                           {Unit::imad, 2, TermKind::integer_multiply},
                                           {Unit::mufu, 8, TermKind::mufu},
                                           {Unit::conversion, 8, TermKind::conversions},
                                           {Unit::uniform, 2, TermKind::uniform}}) {
    const SmRun r = run(schedule({std::vector(10, instruction(unit))}, {times(10)}));
    EXPECT_NEAR(of(r, TermKind::issue), 100, 1e-6) << int(unit);
    EXPECT_NEAR(of(r, term), 100 * (clocks - 1), 1e-6) << int(unit);
    EXPECT_NEAR(of(r, term, 3), 10 * (clocks - 1), 1e-6) << "the one that holds it " << int(unit);
    EXPECT_NEAR(of(r, term, 9), 10 * (clocks - 1), 1e-6) << "the kernel waits for the last " << int(unit);
  }
  // A unit that keeps up with its scheduler costs nothing beyond the issue.
  const SmRun fast = run(schedule({std::vector(10, instruction(Unit::fp32))}, {times(10)}));
  EXPECT_NEAR(of(fast, TermKind::issue), fast.clocks - 1, 1e-6) << "until its pipe is empty";
}

TEST(Attribution, TensorCoresThatAreFedAreTheTime) {
  DeviceSpec spec = round_rates();
  spec.rates["mma_16816"] = 16;
  const auto s = schedule({std::vector(10, instruction(Unit::tensor))}, std::vector(8, times(10)));
  const SmRun r = run(s, 1, 1, spec);
  EXPECT_NEAR(of(r, TermKind::tensor_cores) / r.clocks, 15.0 / 16, 0.01);
  // Time for which the code's stall counts keep warps waiting is not the unit's.
  const SmRun stalled = run(schedule({std::vector(10, instruction(Unit::tensor, 15))}, {times(10)}), 1, 1, spec);
  EXPECT_NEAR(of(stalled, TermKind::tensor_latency) / stalled.clocks, 14.0 / 16, 0.01);
}

TEST(Attribution, AStallCountBelongsToWhoseResultItWaitsFor) {
  ScheduledInstruction consumer = instruction(Unit::fp32);
  std::vector<ScheduledInstruction> block{instruction(Unit::fp32), instruction(Unit::integer, 4), consumer};
  const SmRun stated = run(schedule({block}, {times(10)}));
  EXPECT_NEAR(of(stated, TermKind::instruction_latency, 1, 2), 30, 1e-6);
  block[2].waits_for = 2;
  const SmRun known = run(schedule({block}, {times(10)}));
  EXPECT_NEAR(of(known, TermKind::instruction_latency, 0, 2), 30, 1e-6);
  EXPECT_EQ(of(known, TermKind::instruction_latency, 1), 0);
  block[0].unit = Unit::tensor;
  EXPECT_NEAR(of(run(schedule({block}, {times(1)})), TermKind::tensor_latency, 0, 2), 3, 1e-6);
}

TEST(Attribution, ABarriersWaitIsTheBarriers) {
  const std::vector<ScheduledInstruction> work(100, instruction(Unit::fp32, 4)), bar{instruction(Unit::barrier)};
  // Warp 0 works before the barrier, so half of those 400 clocks is its work and half the other warp's wait. Then the
  // other warp works, on the only scheduler with a live warp.
  const SmRun r = run(schedule({work, bar}, {{0, 1}, {1, 0}}));
  EXPECT_NEAR(r.clocks, 400 + 10 + 400, 4);
  EXPECT_NEAR(of(r, TermKind::barriers, 100), 200 + 10, 4);
  EXPECT_NEAR(of(r, TermKind::instruction_latency), 0.5 * 300 + 300, 4);
  EXPECT_NEAR(of(r, TermKind::issue), 0.5 * 100 + 100, 4);
  // Warps that arrive together wait only for the barrier itself.
  const SmRun even = run(schedule({work, bar}, {{0, 1, 0}, {0, 1, 0}}));
  EXPECT_NEAR(of(even, TermKind::barriers), 10, 2);
}

TEST(Attribution, ConflictsAreTheWavefrontsBeyondThoseNeeded) {
  const auto with = [](float conflicts) {
    ScheduledInstruction load = shared_load(8 + conflicts);
    load.conflicts = conflicts;
    return run(schedule({{load, use()}}, {times(100)}));
  };
  const SmRun none = with(0), twice = with(8);
  EXPECT_EQ(of(none, TermKind::bank_conflicts), 0);
  EXPECT_NEAR(twice.clocks - none.clocks, 100 * 8 * 2, 1) << "a lone warp has every other clock";
  // All wavefronts but the first add to the latency; half of them are conflicts.
  EXPECT_NEAR(of(none, TermKind::shared_wavefronts), 100 * 7 * 2, 1);
  EXPECT_NEAR(of(twice, TermKind::bank_conflicts), 100 * 15, 1);
  EXPECT_NEAR(of(twice, TermKind::shared_wavefronts), 100 * 15, 1);
  EXPECT_NEAR(of(twice, TermKind::shared_latency), of(none, TermKind::shared_latency), 1e-6);
  EXPECT_NEAR(of(twice, TermKind::bank_conflicts, 0, 1), of(twice, TermKind::bank_conflicts), 1e-9) << "the load's";
}

// A load without conflicts that queues behind conflicting stores waits for their conflicts.
TEST(Attribution, AQueueOfWavefrontsHasItsOwnShareOfConflicts) {
  ScheduledInstruction store = instruction(Unit::shared_store);
  store.passes = 32, store.conflicts = 31;
  std::vector<ScheduledInstruction> block(2, store);
  block.push_back(shared_load(1));
  block.push_back(use());
  const SmRun r = run(schedule({block}, {times(50)}));
  EXPECT_GT(of(r, TermKind::bank_conflicts), 0.8 * r.clocks);
  EXPECT_LT(of(r, TermKind::shared_wavefronts), 0.05 * r.clocks);
}

TEST(Attribution, TheLinesOfGlobalRequestsAreNotSharedMemorys) {
  ScheduledInstruction load = global_load();
  load.unit = Unit::local_load;  // hits the first level
  load.passes = 32;
  const SmRun r = run(schedule({{load, use()}}, {times(10)}));
  EXPECT_NEAR(of(r, TermKind::l1_lines, 0, 1), 10 * 31 * 2, 10);
  EXPECT_EQ(of(r, TermKind::shared_wavefronts), 0);
}

TEST(Attribution, AFullQueueHoldsTheWarpThatFillsIt) {
  ScheduledInstruction store = instruction(Unit::shared_store);
  store.passes = 4;
  const SmRun r = run(schedule({{store}}, {times(100)}));
  EXPECT_NEAR(of(r, TermKind::shared_wavefronts) + of(r, TermKind::issue), r.clocks, 1e-6);
  EXPECT_NEAR(of(r, TermKind::issue), 100, 1e-6);
}

TEST(Attribution, ACrowdedLevelIsBandwidth) {
  ScheduledInstruction load = global_load();
  load.passes = 4, load.sectors = 16;
  const SmRun r = run(schedule({{load, use()}}, std::vector(32, times(100))));
  EXPECT_GT(of(r, TermKind::l2_bandwidth, 0, 1), 0.4 * r.clocks);
  EXPECT_EQ(of(r, TermKind::bank_conflicts), 0);
  ScheduledInstruction shuffle = instruction(Unit::shuffle);
  shuffle.write_scoreboard = 0;
  const SmRun shuffles = run(schedule({{shuffle, use()}}, std::vector(40, times(100))));
  EXPECT_GT(of(shuffles, TermKind::shuffles, 0, 1) + of(shuffles, TermKind::issue), 0.6 * shuffles.clocks);
}

TEST(Attribution, EachResultsLatencyHasItsName) {
  DeviceSpec spec = round_rates();
  spec.rates["latency_constant"] = 40;
  for (const auto& [unit, latency, term] : {std::tuple{Unit::mufu, 16, TermKind::mufu_latency},
                                            {Unit::conversion, 16, TermKind::mufu_latency},
                                            {Unit::shuffle, 24, TermKind::shuffle_latency},
                                            {Unit::constant_load, 40, TermKind::constant_latency},
                                            {Unit::local_load, 30, TermKind::local_latency},
                                            {Unit::shared_load, 20, TermKind::shared_latency}}) {
    ScheduledInstruction load = instruction(unit);
    load.write_scoreboard = 0;
    load.passes = 1;
    const SmRun r = run(schedule({{load, use()}}, {times(100)}), 1, 1, spec);
    EXPECT_NEAR(of(r, term, 0, 1), 100 * (latency - 1), 1) << int(unit);
  }
}

TEST(Attribution, CopiesAreWaitedForByGroup) {
  ScheduledInstruction copy = instruction(Unit::async_copy), close = instruction(Unit::control);
  copy.bypasses_l1 = true;
  copy.passes = copy.sectors = 1;
  close.closes_copies = true;
  const auto await = [](int pending) {
    ScheduledInstruction wait = instruction(Unit::control);
    wait.copies_pending = static_cast<int8_t>(pending);
    return wait;
  };
  const SmRun r = run(schedule({{copy, close, await(0)}}, {times(1)}));
  EXPECT_NEAR(of(r, TermKind::global_latency, 0, 2), 320, 3);
  // The warp waits for the first of two groups, and the first group carries the wait.
  const std::vector<ScheduledInstruction> work(100, instruction(Unit::fp32));
  const SmRun two = run(schedule({{copy, close}, work, {copy, close, await(1)}}, {{0, 1, 2}}));
  EXPECT_NEAR(of(two, TermKind::global_latency, 0, 104), 320 - 102, 3);
  EXPECT_EQ(of(two, TermKind::global_latency, 102), 0);
}

TEST(Attribution, JumpsAndStartsCarryTheirs) {
  DeviceSpec spec = round_rates();
  spec.rates["latency_branch"] = 8;
  spec.rates["cta_start"] = 100;
  const auto s = schedule({std::vector(10, instruction(Unit::fp32))}, {times(10)});
  const SmRun one = run(s, 1, 1, spec);
  EXPECT_NEAR(of(one, TermKind::jumps, 9, 0), 9 * 8, 1e-6);
  EXPECT_EQ(of(one, TermKind::launch), 0);
  const SmRun three = run(s, 3, 1, spec);
  EXPECT_NEAR(of(three, TermKind::launch), 200, 1e-6);
  EXPECT_NEAR(of(three, TermKind::issue), 300, 1e-6);
}

TEST(Attribution, ALateStartIsNoWaitForAResult) {
  DeviceSpec spec = round_rates();
  spec.rates["cta_start"] = 100;
  const SmRun two = run(schedule({std::vector(400, instruction(Unit::fp32))}, {times(1)}), 2, 2, spec);
  EXPECT_GT(of(two, TermKind::launch), 0);
  EXPECT_EQ(of(two, TermKind::instruction_latency), 0);
}

// Both on one scoreboard: a load from the second level, and one from shared memory when the first is about to arrive.
TEST(Attribution, OfTwoThatArriveAtOnceTheEarlierIsWaitedFor) {
  const double far = 300 + 1, near = 20;  // clocks from the issue until each is there
  for (const int between : {270, 278, 279, 280, 281, 282, 290}) {
    std::vector<ScheduledInstruction> block{global_load()};
    block.insert(block.end(), size_t(between), instruction(Unit::fp32));
    block.push_back(shared_load(1));
    block.push_back(use());
    const SmRun r = run(schedule({block}, {times(1)}));
    const uint32_t later = uint32_t(between) + 1, consumer = later + 1;
    const bool of_the_later = 1 + between + near > far;
    EXPECT_EQ(of(r, TermKind::shared_latency, later, consumer) > 0, of_the_later) << between;
    EXPECT_EQ(of(r, TermKind::global_latency, 0, consumer) > 0, !of_the_later) << between;
  }
}

TEST(Attribution, PlacesThatStayEmptyAreTheTail) {
  const auto s = schedule({std::vector(100, instruction(Unit::fp32, 4))}, {times(10)});
  const SmRun full = run(s, 4, 2), tail = run(s, 3, 2);
  EXPECT_NEAR(of(full, TermKind::tail), 0, 4);
  EXPECT_NEAR(tail.clocks, 8000, 8);
  EXPECT_NEAR(of(tail, TermKind::tail), 2000, 8) << "one of two places for half of the time";
  EXPECT_NEAR(of(tail, TermKind::issue), 1500, 8);
}

TEST(Attribution, AStoresEndIsWaitedForByTheCta) {
  ScheduledInstruction store = instruction(Unit::global_store);
  store.write_scoreboard = 0;
  store.passes = store.sectors = 1;
  const SmRun r = run(schedule({{store, instruction(Unit::control)}}, {times(1)}));
  EXPECT_NEAR(r.clocks, 301, 1e-6);
  EXPECT_NEAR(of(r, TermKind::global_latency, 0, 1), 299, 1e-6);
}

TEST(Attribution, APartStandsForTheWhole) {
  const auto s = schedule({std::vector(10, instruction(Unit::fp32, 4))}, {times(1000)});
  SmLoad load{SmCtas(1), 1};
  load.step_limit = 2500;
  const SmRun part = simulate_sm(round_rates(), s, load);
  EXPECT_NEAR(sum_of(part.stalls), part.clocks, 1e-6);
  EXPECT_NEAR(of(part, TermKind::issue), 10000, 20);
  load.split = false;
  const SmRun unsplit = simulate_sm(round_rates(), s, load);
  EXPECT_TRUE(unsplit.stalls.empty());
  EXPECT_EQ(unsplit.clocks, part.clocks);
}

}  // namespace
}  // namespace attnscope::model
