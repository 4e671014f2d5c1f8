// The figures that findings about memory give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/rules.h"
#include "unit/explain/figures_of.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

using model::Unit;
using testing::HasSubstr;
using testing::Not;

TEST(BankConflicts, CostTheirTimeAndThatOfTheWarpsThatWaitForTheirPhase) {
  Input in;
  in.at(kScore).wavefronts = 40000;
  in.stall(TermKind::bank_conflicts, kScore, 30);
  const auto found = look(RuleId::bank_conflicts, in.facts);
  EXPECT_DOUBLE_EQ(saved(found), 30);
  EXPECT_DOUBLE_EQ(figure(found, "wavefronts of the worst access"), 4);
  EXPECT_DOUBLE_EQ(figure(found, "wavefronts"), 40000);
  EXPECT_DOUBLE_EQ(figure(found, "wavefronts without conflicts"), 10000);
  EXPECT_THAT(found->sentence, HasSubstr("75 % of all wavefronts"));
  in.facts.warps["score"] = {400, 0, 0, 0};
  EXPECT_DOUBLE_EQ(saved(look(RuleId::bank_conflicts, in.facts)), 30 * (1 + 1.5 / 61.5));
}

TEST(GlobalNarrow, OneByteIsSingular) {
  Input in;
  in.at(kLoad).width = 1;
  EXPECT_THAT(look(RuleId::global_narrow, in.facts)->sentence, HasSubstr("Neighbouring lanes take 1 byte each at"));
  in.at(kLoad).width = 2;
  EXPECT_THAT(look(RuleId::global_narrow, in.facts)->sentence, HasSubstr("Neighbouring lanes take 2 bytes each at"));
}

TEST(SharedQueue, CountsTheArithmeticOfAWavefront) {
  Input in;
  in.stall(TermKind::shared_wavefronts, kScore, 20);
  in.at(kSum).issued = 40000;
  EXPECT_DOUBLE_EQ(figure(look(RuleId::shared_queue, in.facts), "arithmetic instructions of a wavefront"), 4);
  EXPECT_DOUBLE_EQ(saved(look(RuleId::shared_queue, in.facts)), 20);
  for (const Unit unit : {Unit::fp16x2, Unit::tensor}) {
    in.at(kSum).unit = unit;
    EXPECT_DOUBLE_EQ(figure(look(RuleId::shared_queue, in.facts), "arithmetic instructions of a wavefront"), 4);
  }
  in.at(kSum).unit = Unit::integer;
  EXPECT_DOUBLE_EQ(figure(look(RuleId::shared_queue, in.facts), "arithmetic instructions of a wavefront"), 0);
}

TEST(GlobalScattered, CostsTheShareOfTheLinesAndSectorsThatAreTooMany) {
  Input in;
  in.at(kLoad).lines = in.at(kLoad).passes = 31248;  // four times those that 1 MB has
  in.at(kLoad).sectors = 62500;
  in.stall(TermKind::l1_lines, kLoad, 20);
  in.stall(TermKind::dram_bandwidth, kLoad, 8);
  EXPECT_NEAR(saved(look(RuleId::global_scattered, in.facts)), 20 * 0.75 + 8 * 0.5, 1e-3);
  EXPECT_DOUBLE_EQ(figure(look(RuleId::global_scattered, in.facts), "sectors that its bytes need"), 15.625);
  EXPECT_THAT(look(RuleId::global_scattered, in.facts)->sentence,
              HasSubstr("15.6 lines of 128 bytes where 3.91 would hold"));
  in.at(kLoad).requests = 40000;
  EXPECT_NEAR(saved(look(RuleId::global_scattered, in.facts)), 8 * 22500 / 62500.0, 1e-3)
      << "a request takes a line, whatever it asks";
}

// Whatever the number of requests, the figures are one request's.
TEST(GlobalScattered, FiguresAreOfARequestHoweverFewThereAre) {
  for (const double requests : {1.0, 2.0, 5.0}) {
    Input in;
    Instruction& load = in.at(kLoad);
    load.requests = requests, load.bytes = 256 * requests, load.lines = load.passes = 32 * requests,
    load.sectors = 16 * requests;
    in.stall(TermKind::l1_lines, kLoad, 30);
    const auto found = look(RuleId::global_scattered, in.facts);
    EXPECT_DOUBLE_EQ(figure(found, "lines of a request"), 32);
    EXPECT_DOUBLE_EQ(figure(found, "sectors of a request"), 16);
    EXPECT_DOUBLE_EQ(figure(found, "sectors that its bytes need"), 8);
    EXPECT_THAT(found->sentence, HasSubstr("touches 32 lines of 128 bytes where 2 would hold its bytes")) << requests;
  }
}

TEST(GlobalRepeated, CostsAllButTheFirstLoad) {
  Input in;
  in.facts.distinct_bytes = 2.5e5;
  for (const TermKind term : {TermKind::l1_lines, TermKind::l2_bandwidth, TermKind::global_latency})
    in.stall(term, kLoad, 6);
  const auto found = look(RuleId::global_repeated, in.facts);
  EXPECT_DOUBLE_EQ(saved(found), 19.5 * 0.75);
  EXPECT_DOUBLE_EQ(figure(found, "bytes loaded"), 1e6);
  EXPECT_THAT(found->sentence, HasSubstr("loaded 4 times"));
  in.facts.distinct_bytes = 5e5;
  EXPECT_FALSE(look(RuleId::global_repeated, in.facts)) << "twice is not often";
}

TEST(AtomicsMeet, CostsTheirQueue) {
  Input in;
  Instruction& add = in.at(kStore);
  add.atomic = true;
  add.requests = 1000, add.turns = 8000;
  in.facts.hottest = {.sector = 256000, .piece = 512000};
  EXPECT_FALSE(look(RuleId::atomics_meet, in.facts)) << "none waits";
  in.stall(TermKind::atomics, kStore, 20);
  const auto found = look(RuleId::atomics_meet, in.facts);
  EXPECT_DOUBLE_EQ(saved(found), 20);
  EXPECT_DOUBLE_EQ(figure(found, "time of the queue"), 20);
  EXPECT_DOUBLE_EQ(figure(found, "turns of a request"), 8);
  EXPECT_DOUBLE_EQ(figure(found, "turns in the busiest sector"), 256000);
  EXPECT_DOUBLE_EQ(figure(found, "turns in the busiest 512 bytes"), 512000);
  EXPECT_THAT(found->sentence, HasSubstr("take 8 turns at words and sectors of global memory"));
  EXPECT_THAT(found->sentence, HasSubstr("256,000 turns in the busiest sector"));
  add.atomic = false;
  EXPECT_THAT(look(RuleId::atomics_meet, in.facts)->sentence, HasSubstr("in a bank of shared memory"));
}

TEST(GlobalNarrow, CostsTheInstructionsThatWideAccessesSave) {
  Input in;
  in.at(kLoad).width = 4;
  EXPECT_DOUBLE_EQ(saved(look(RuleId::global_narrow, in.facts)), 25 * 0.75);
  for (const Unit unit : {Unit::integer, Unit::imad, Unit::uniform, Unit::control}) in.add(unit, kLoad, 2);
  in.add(Unit::fp32, kLoad, 5);
  EXPECT_DOUBLE_EQ(saved(look(RuleId::global_narrow, in.facts)), (25 + 8) * 0.75)
      << "addresses and loops, and no arithmetic";
  EXPECT_THAT(look(RuleId::global_narrow, in.facts)->sentence, HasSubstr("4 times the instructions"));
}

TEST(GlobalNarrow, IsNarrowOnlyIfNineTenthsOfTheSectorsAreUsed) {
  Instruction one{.unit = Unit::global_load, .width = 4, .bytes = 2880, .sectors = 100};
  EXPECT_TRUE(is_narrow(one));
  one.bytes = 2879;
  EXPECT_FALSE(is_narrow(one)) << "far apart";
  one.bytes = 3555;
  EXPECT_TRUE(is_narrow(one));
  one.bytes = 3556;
  EXPECT_FALSE(is_narrow(one)) << "lanes read the same bytes";
  one.bytes = 3200, one.width = 16;
  EXPECT_FALSE(is_narrow(one));
  one.width = 8, one.unit = Unit::shared_load;
  EXPECT_FALSE(is_narrow(one));
}

TEST(LocalSpill, CostsTheTimeOfItsAccesses) {
  Input in;
  in.facts.seen.variant->spill_bytes = in.facts.seen.variant->stack_bytes = 1512;
  in.at(kSum).unit = Unit::local_load;
  EXPECT_DOUBLE_EQ(saved(look(RuleId::local_spill, in.facts)), 37.5);
  EXPECT_DOUBLE_EQ(figure(look(RuleId::local_spill, in.facts), "spilled"), 1512);
  EXPECT_DOUBLE_EQ(figure(look(RuleId::local_spill, in.facts), "time of local memory"), 37.5);
  EXPECT_THAT(look(RuleId::local_spill, in.facts)->sentence, Not(HasSubstr("costs little")));
  in.at(kSum).unit = Unit::local_store;
  EXPECT_DOUBLE_EQ(saved(look(RuleId::local_spill, in.facts)), 37.5);
  in.at(kSum).unit = Unit::fp32;
  EXPECT_THAT(look(RuleId::local_spill, in.facts)->sentence, HasSubstr("costs little"));
}

}  // namespace
}  // namespace attnscope::explain
