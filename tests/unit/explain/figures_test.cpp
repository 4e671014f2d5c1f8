// The figures that findings give, and from where on there is a finding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/rules.h"
#include "model/schedule.h"
#include "unit/explain/figures_of.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

using model::Unit;
using testing::HasSubstr;

TEST(Costs, AreTellingFromAFiftiethOfTheTimeAndAWarningFromATenth) {
  Input in;
  const auto severity = [&](double us) -> std::optional<Severity> {
    const auto found = costs(in.facts, RuleId::grid_tail, us, "It costs.", {});
    return found ? std::optional(found->severity) : std::nullopt;
  };
  EXPECT_EQ(severity(1.99), std::nullopt);
  EXPECT_EQ(severity(2), Severity::info);
  EXPECT_EQ(severity(9.9), Severity::info);
  EXPECT_EQ(severity(10), Severity::warning);
  EXPECT_EQ(saved(costs(in.facts, RuleId::grid_tail, 12, "It costs.", {})), 12);
  in.facts.seen.timing.reset();
  EXPECT_EQ(severity(10), std::nullopt) << "of an unknown time";
}

// 480,000 warp instructions on 48 SMs at 2 GHz, with the rates of an L4.
TEST(Roofs, EachUnitTakesAWarpInItsOwnTime) {
  const std::tuple<Unit, Bound, double> units[] = {
      {Unit::fp32, Bound::fp32, 1.25},      {Unit::fp16x2, Bound::fp16, 2.5},
      {Unit::fp64, Bound::fp64, 80},        {Unit::half_to_float, Bound::half_conversions, 2.5},
      {Unit::integer, Bound::integer, 2.5}, {Unit::imad, Bound::integer_multiply, 2.5},
      {Unit::mufu, Bound::mufu, 10},        {Unit::conversion, Bound::conversions, 10},
      {Unit::shuffle, Bound::shuffles, 5},
  };
  for (const auto& [unit, bound, us] : units) {
    Input in;
    in.facts.code = {{.phase = "sum", .unit = unit, .issued = 480000}, {.phase = "load", .issued = 480000}};
    EXPECT_NEAR(roofs(in.facts)[bound], us, 1e-9) << to_string(bound);
    EXPECT_NEAR(roofs(in.facts)[Bound::issue_slots], 2.5, 1e-9);
    EXPECT_NEAR(roofs(in.facts, "sum")[Bound::issue_slots], 1.25, 1e-9);
    EXPECT_FALSE(roofs(in.facts, "load").contains(bound));
    in.facts.seen.counters->emulated_ctas = 48;
    EXPECT_NEAR(roofs(in.facts)[bound], 2 * us, 1e-9) << "half of the CTAs ran";
  }
}

TEST(Roofs, OfMemoryAndOfTensorCores) {
  Input in;
  in.facts.code = {{.phase = "sum", .wavefronts = 300000, .passes = 180000, .products = 1e6}};
  const auto all = roofs(in.facts);
  EXPECT_NEAR(all.at(Bound::shared_memory), 5, 1e-9);
  EXPECT_NEAR(all.at(Bound::tensor_cores), 1e6 * 4096 / 100e12 * 1e6, 1e-9) << "16x8x16 multiply-adds each";
  EXPECT_EQ(all.at(Bound::dram_bandwidth), 0) << "what is moved fits into the L2";
  in.facts.dram_us = 7;
  EXPECT_EQ(roofs(in.facts).at(Bound::dram_bandwidth), 7);
  in.facts.dram_us = 0;
  EXPECT_FALSE(roofs(in.facts, "sum").contains(Bound::dram_bandwidth));
  EXPECT_EQ(highest_roof(in.facts), (std::pair{Bound::tensor_cores, all.at(Bound::tensor_cores)}));
  in.facts.seen.timing->clock_mhz = 0;
  EXPECT_TRUE(roofs(in.facts).empty());
}

TEST(BoundRoof, NamesThePathOfL1LinesIfMostOfItIsLines) {
  Input in;
  in.facts.code = {{.issued = 1, .wavefronts = 300000, .passes = 300000}};
  EXPECT_THAT(look(RuleId::bound_roof, in.facts)->sentence, HasSubstr("shared memory"));
  in.facts.code[0].passes = 300001;
  const auto found = look(RuleId::bound_roof, in.facts);
  EXPECT_THAT(found->sentence, HasSubstr("L1 lines"));
  EXPECT_NEAR(figure(found, "least time of that unit"), 6.25, 1e-3);
  EXPECT_NEAR(figure(found, "share of the roof"), 6.25, 1e-3) << "of 100 us";
}

TEST(PhaseMost, TellsTheLongestThree) {
  Input in;
  in.facts.code.push_back({.line = 50, .phase = "store"});
  in.stall(TermKind::issue, 50, 28);
  const auto found = look(RuleId::phase_most, in.facts);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->evidence.size(), 3u);
  EXPECT_DOUBLE_EQ(figure(found, "sum"), 37.5);
  EXPECT_DOUBLE_EQ(figure(found, "score"), 33);
  EXPECT_DOUBLE_EQ(figure(found, "store"), 28);
  EXPECT_THAT(found->sentence, HasSubstr("37.5 %"));
}

TEST(LonePhases, AreThoseOfFewerThanThreeQuartersOfTheWarps) {
  Input in;
  in.facts.warps["score"] = {100, 100, 100, 0};
  EXPECT_TRUE(lone_phases(in.facts).empty());
  in.facts.warps["score"] = {100, 100, 99, 0};
  ASSERT_EQ(lone_phases(in.facts).size(), 1u);
  EXPECT_DOUBLE_EQ(lone_phases(in.facts)[0].working, 2.99);
}

TEST(LonePhases, DivideTheWaitAtBarriersByTheTimeThatWarpsAreIdle) {
  Input in;
  in.facts.stalls.clear();
  in.stall(TermKind::issue, kLoad, 40);
  in.stall(TermKind::issue, kSum, 20);
  in.stall(TermKind::issue, kScore, 1.9);
  in.stall(TermKind::barriers, kStore, 12);
  in.facts.code.back().phase = "store";
  for (const char* phase : {"load", "score"}) in.facts.warps[phase] = {100, 0, 0, 0};
  in.facts.warps["sum"] = {100, 100, 0, 0};
  const auto lone = lone_phases(in.facts);
  ASSERT_EQ(lone.size(), 2u) << "1.9 of 100 us are too short";
  EXPECT_EQ(lone[0].phase, "load");
  EXPECT_DOUBLE_EQ(lone[0].waited, 9) << "30 of the 40 us that warps are idle";
  EXPECT_DOUBLE_EQ(lone[1].waited, 3) << "10 of 40";
  EXPECT_DOUBLE_EQ(stretch(in.facts, "load"), 49.0 / 40);
  in.stall(TermKind::issue, kScore, 0.1);
  EXPECT_EQ(lone_phases(in.facts).size(), 3u);
}

TEST(LonePhases, NeedABarrierAtWhichOthersWait) {
  Input in;
  in.facts.warps["score"] = {400, 0, 0, 0};
  EXPECT_EQ(lone_phases(in.facts).size(), 1u);
  std::erase_if(in.facts.stalls, [](const model::Stall& s) { return s.term == TermKind::barriers; });
  EXPECT_TRUE(lone_phases(in.facts).empty());
  EXPECT_FALSE(look(RuleId::lone_warps, in.facts));
}

// 31.5 us on a scheduler, on average over four: 126 us of one warp's time, of which the others wait for what is beyond
// an equal share.
TEST(LonePhases, NobodyWaitsLongerThanTheBusyWarpsDoMore) {
  Input in;
  in.stall(TermKind::barriers, kWait, 78.5);
  in.facts.warps["score"] = {190, 70, 70, 70};
  const auto lone = lone_phases(in.facts);
  ASSERT_EQ(lone.size(), 1u);
  EXPECT_DOUBLE_EQ(lone[0].beyond, 190.0 / 400 - 0.25);
  EXPECT_DOUBLE_EQ(lone[0].waited, 126 * 0.225);
  const auto rest = look(RuleId::barrier_wait, in.facts);
  EXPECT_DOUBLE_EQ(saved(rest), 80 - 28.35);
  EXPECT_THAT(rest->sentence, HasSubstr("80 % of the time at barriers, 35.4 % of it for few warps, most of it at"));
}

TEST(LonePhases, TheBusyWarpsAreAboveTheWidestGap) {
  const auto lone = [](std::vector<double> issued) {
    Input in;
    in.facts.warps["score"] = std::move(issued);
    const auto all = lone_phases(in.facts);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? LonePhase() : all.front();
  };
  EXPECT_EQ(lone({0, 400, 0, 0}).busy, 1u);
  EXPECT_EQ(lone({0, 400, 0, 0}).busiest, 1u);
  EXPECT_EQ(lone({0, 400, 0, 0}).times, 0);
  EXPECT_EQ(lone({396, 400, 0, 20}).busy, 2u);
  EXPECT_EQ(lone({396, 400, 0, 20}).times, 0) << "a fortieth of the work";
  EXPECT_DOUBLE_EQ(lone({396, 404, 40, 60}).times, 8);
  EXPECT_EQ(lone({70, 50, 40, 30}).busy, 1u);
  EXPECT_DOUBLE_EQ(lone({70, 50, 40, 30}).times, 1.75);
}

TEST(LoneWarps, SaveWhatTheWorkWouldTakeLessIfAllDidIt) {
  Input in;
  in.facts.warps["score"] = {400, 0, 0, 0};
  in.stall(TermKind::barriers, kWait, 38.5);
  const auto found = look(RuleId::lone_warps, in.facts);
  EXPECT_DOUBLE_EQ(figure(found, "warps that work"), 1);
  EXPECT_DOUBLE_EQ(figure(found, "time of the phase"), 31.5);
  EXPECT_DOUBLE_EQ(figure(found, "time that others wait for it"), 40);
  EXPECT_DOUBLE_EQ(saved(found), 40) << "the time that they wait, which is less than 71.5 * 0.75";
  EXPECT_THAT(found->sentence, HasSubstr("1 of a CTA's 4 warps does all of score; the others wait for it at the"));
  in.facts.warps["score"] = {200, 200, 0, 0};
  const auto of_two = look(RuleId::lone_warps, in.facts);
  EXPECT_DOUBLE_EQ(saved(of_two), 71.5 * 0.5) << "the work does not become less";
  EXPECT_THAT(of_two->sentence, HasSubstr("2 of a CTA's 4 warps do all of score; the others wait for them at the"));
}

TEST(LoneWarps, CountNoWarpsWhereAllWork) {
  Input in;
  in.stall(TermKind::barriers, kWait, 20);
  in.facts.warps["score"] = {40, 280, 40, 40};
  const auto found = look(RuleId::lone_warps, in.facts);
  EXPECT_THAT(found->sentence, HasSubstr("Warp 1 of a CTA's 4 warps does 7 times as much of score as each of the "
                                         "others, which wait for it at the barrier."));
  EXPECT_DOUBLE_EQ(figure(found, "warps that do more"), 1);
  EXPECT_DOUBLE_EQ(figure(found, "work of such a warp"), 7);
  in.facts.warps["score"] = {280, 280, 40, 40};
  EXPECT_THAT(look(RuleId::lone_warps, in.facts)->sentence,
              HasSubstr("2 of a CTA's 4 warps do 7 times as much of score as each of the others"));
}

TEST(IdleThreads, SaveTheShareOfTheIdleLanes) {
  Input in;
  in.at(kSum).lanes = 160000, in.at(kStore).lanes = 320000;
  const auto found = look(RuleId::idle_threads, in.facts);
  EXPECT_DOUBLE_EQ(figure(found, "active lanes"), 24);
  EXPECT_DOUBLE_EQ(saved(found), 37.5 * 8 / 32);
}

TEST(BarrierWait, CountsTheArrivals) {
  Input in;
  in.stall(TermKind::barriers, kWait, 20);
  in.facts.seen.counters->barriers = 384;
  EXPECT_DOUBLE_EQ(saved(look(RuleId::barrier_wait, in.facts)), 21.5);
  EXPECT_DOUBLE_EQ(figure(look(RuleId::barrier_wait, in.facts), "warp arrivals at barriers"), 384);
}

TEST(OccupancyLow, SaysWhatLimitsItAndSharesTheLatencyOut) {
  Input in;
  in.facts.seen.occupancy = Occupancy{1, 4, 4.0 / 48, Limiter::registers, 2, 96, 48, 0};
  in.facts.seen.variant->registers = 255;
  in.stall(TermKind::instruction_latency, kSum, 20);
  auto found = look(RuleId::occupancy_low, in.facts);
  EXPECT_DOUBLE_EQ(saved(found), 25.5 / 2) << "a second CTA hides half";
  EXPECT_DOUBLE_EQ(figure(found, "time of latency"), 25.5);
  EXPECT_THAT(found->sentence,
              HasSubstr("1 CTA runs at a time, since a CTA takes 32,768 of an SM's 65,536 registers, 255 a"));
  in.facts.seen.variant->dynamic_shared_bytes = 80000;
  in.facts.seen.occupancy = Occupancy{2, 8, 8.0 / 48, Limiter::shared_memory, 1, 96, 96, 0};
  found = look(RuleId::occupancy_low, in.facts);
  EXPECT_DOUBLE_EQ(saved(found), 25.5 / 3);
  EXPECT_THAT(found->sentence, HasSubstr("2 CTAs run at a time, since a CTA takes 91,264 B of an SM's 102,400 B"));
  EXPECT_THAT(found->sentence, HasSubstr("1,024 B of them the system's"));
}

TEST(OccupancyLow, OnlyLatenciesCount) {
  for (int term = 0; term <= static_cast<int>(TermKind::other); ++term) {
    Input in;
    in.facts.seen.occupancy = Occupancy{1, 4, 4.0 / 48, Limiter::registers, 2, 96, 48, 0};
    in.stall(static_cast<TermKind>(term), kSum, 20);
    const bool latency =
        term >= static_cast<int>(TermKind::instruction_latency) && term <= static_cast<int>(TermKind::local_latency);
    EXPECT_DOUBLE_EQ(figure(look(RuleId::occupancy_low, in.facts), "time of latency"), latency ? 25.5 : 5.5)
        << to_string(static_cast<TermKind>(term));
  }
}

TEST(OccupancyMisleading, IsOfHalfFullSmsWhoseTimeGoesToAQueue) {
  Input in;
  std::erase_if(in.facts.stalls, [](const model::Stall& s) { return s.term != TermKind::launch; });
  in.stall(TermKind::issue, kSum, 19.4);
  in.facts.seen.occupancy->fraction = 0.5;
  EXPECT_DOUBLE_EQ(figure(look(RuleId::occupancy_misleading, in.facts), "time of issue"), 20)
      << "of the 97 us behind the launch";
  EXPECT_DOUBLE_EQ(figure(look(RuleId::occupancy_misleading, in.facts), "occupancy"), 50);
  in.facts.seen.occupancy->fraction = 0.49;
  EXPECT_FALSE(look(RuleId::occupancy_misleading, in.facts));
  in.facts.seen.occupancy->fraction = 0.5;
  in.stall(TermKind::global_latency, kLoad, 9.6);
  EXPECT_TRUE(look(RuleId::occupancy_misleading, in.facts));
  in.stall(TermKind::global_latency, kLoad, 0.2);
  EXPECT_FALSE(look(RuleId::occupancy_misleading, in.facts)) << "more warps would hide that";
}

TEST(OccupancyMisleading, BlamesFewWarpsOnlyIfOthersWaitForThem) {
  Input in;
  in.facts.warps["score"] = {220, 180, 0, 0};
  std::erase_if(in.facts.stalls, [](const model::Stall& s) { return s.term == TermKind::issue; });
  in.stall(TermKind::shared_wavefronts, kScore, 90);
  EXPECT_THAT(look(RuleId::occupancy_misleading, in.facts)->sentence, HasSubstr("they queue for a unit"));
  in.stall(TermKind::barriers, kWait, 20);
  EXPECT_THAT(look(RuleId::occupancy_misleading, in.facts)->sentence,
              HasSubstr("warps wait while 2 of a CTA's 4 work in score."));
  in.facts.warps["score"] = {280, 40, 40, 40};
  EXPECT_THAT(look(RuleId::occupancy_misleading, in.facts)->sentence,
              HasSubstr("warps wait while 1 of a CTA's 4 works longer in score."));
}

TEST(GridTail, CostsNoMoreThanTheSmsThatStayEmpty) {
  Input in;
  in.facts.seen.occupancy->total_ctas = 100;
  in.facts.seen.occupancy->resident_ctas = 96;
  in.facts.seen.occupancy->tail_ctas = 4;
  in.stall(TermKind::tail, 0, 20);
  EXPECT_DOUBLE_EQ(saved(look(RuleId::grid_tail, in.facts)), 20);
  EXPECT_THAT(look(RuleId::grid_tail, in.facts)->sentence, HasSubstr("runs up to 3, on average 2.08. 96 places"));
  EXPECT_DOUBLE_EQ(figure(look(RuleId::grid_tail, in.facts), "CTAs"), 100);
  EXPECT_DOUBLE_EQ(figure(look(RuleId::grid_tail, in.facts), "CTAs of the last wave"), 4);
  in.stall(TermKind::tail, 0, 40);
  EXPECT_NEAR(saved(look(RuleId::grid_tail, in.facts)), 100 * (1 - 100.0 / 144), 1e-9);
  in.facts.seen.occupancy->total_ctas = 48;
  EXPECT_FALSE(look(RuleId::grid_tail, in.facts)) << "one CTA an SM";
}

TEST(GridTail, SpeaksOfALastWaveOnlyIfThereIsOne) {
  Input in;
  in.facts.seen.occupancy->total_ctas = 100;
  in.stall(TermKind::tail, 0, 20);
  for (const int64_t places : {100, 576}) {
    in.facts.seen.occupancy->resident_ctas = places;
    const auto found = look(RuleId::grid_tail, in.facts);
    EXPECT_THAT(found->sentence, HasSubstr("on average 2.08. All of them run at once, and an SM with fewer is done"));
    for (const Evidence& one : found->evidence) EXPECT_NE(one.name, "CTAs of the last wave");
  }
  in.facts.seen.occupancy->resident_ctas = 99;
  in.facts.seen.occupancy->tail_ctas = 1;
  EXPECT_THAT(look(RuleId::grid_tail, in.facts)->sentence,
              HasSubstr("99 places are there at once, so the last 1 CTA runs in a wave of its own."));
}

TEST(GridSmall, CostsTheIdleSmsTimeButTheLaunch) {
  Input in;
  in.facts.seen.occupancy->total_ctas = 12;
  EXPECT_DOUBLE_EQ(saved(look(RuleId::grid_small, in.facts)), 97 * 0.75);
  EXPECT_THAT(look(RuleId::grid_small, in.facts)->sentence, HasSubstr("75 % of it is idle"));
}

TEST(LaunchMost, IsFromThreeTenthsOn) {
  Input in;
  in.stall(TermKind::launch, 0, 26.9);
  EXPECT_FALSE(look(RuleId::launch_most, in.facts));
  in.stall(TermKind::launch, 0, 0.2);
  EXPECT_NEAR(figure(look(RuleId::launch_most, in.facts), "time of the launch"), 30.1, 1e-9);
}

TEST(LatencyExposed, TellsTheWorstPairAndHowManyWarpsHideIt) {
  Input in;
  in.stall(TermKind::global_latency, kLoad, 12, kSum);
  in.stall(TermKind::global_latency, kLoad, 8, kSum);
  const auto found = look(RuleId::latency_exposed, in.facts);
  EXPECT_DOUBLE_EQ(saved(found), 20);
  EXPECT_DOUBLE_EQ(figure(found, "all waits of its kind"), 21.5);
  EXPECT_DOUBLE_EQ(figure(found, "warps on an SM"), 8);
  EXPECT_DOUBLE_EQ(figure(found, "warps that would hide it"), 8 * (1 + 21.5 / 90));
  EXPECT_THAT(found->sentence, HasSubstr("made_up.cu:30 waits for what made_up.cu:10 loads"));
}

// 96 CTAs of four warps on 48 SMs at 2 GHz: a scheduler has two warps. 10,000 waits are 52.1 of each scheduler, and its
// warps issue in 90 us.
TEST(LatencyExposed, TellsTheClocksOfAWaitAndTheWarpsOfAScheduler) {
  Input in;
  in.stall(TermKind::global_latency, kLoad, 20, kSum);
  const auto found = look(RuleId::latency_exposed, in.facts);
  const double waits = 10000.0 / (48 * 4);
  EXPECT_DOUBLE_EQ(figure(found, "exposed clocks of a wait"), 20 * 2000 / waits);
  EXPECT_DOUBLE_EQ(figure(found, "clocks in which a warp issues between two waits"), 90 * 2000 / waits);
  EXPECT_DOUBLE_EQ(figure(found, "warps of a scheduler"), 2);
  EXPECT_DOUBLE_EQ(figure(found, "warps of a scheduler that would hide it"), 2 * (1 + 21.5 / 90));
  EXPECT_DOUBLE_EQ(figure(found, "warps that a scheduler holds"), 12);
  EXPECT_THAT(found->sentence, HasSubstr("without work for 768 clocks; between two of them a warp issues for"));
  EXPECT_THAT(found->sentence, HasSubstr("About 3 warps per scheduler would hide it; there are 2."));
}

// Twice as many waits for the same time: each exposes half. A sample of the CTAs has its share of the waits.
TEST(LatencyExposed, CountsTheWaitsOfTheWholeGrid) {
  const auto clocks = [](double issued, int64_t emulated) {
    Input in;
    in.stall(TermKind::global_latency, kLoad, 20, kSum);
    in.at(kSum).issued = issued;
    in.facts.seen.counters->emulated_ctas = emulated;
    return figure(look(RuleId::latency_exposed, in.facts), "exposed clocks of a wait");
  };
  EXPECT_DOUBLE_EQ(clocks(20000, 96), clocks(10000, 96) / 2);
  EXPECT_DOUBLE_EQ(clocks(5000, 48), clocks(10000, 96));
}

TEST(LatencyExposed, SaysWhatLimitsTheWarps) {
  Input in;
  in.stall(TermKind::global_latency, kLoad, 20, kSum);
  in.facts.seen.occupancy = Occupancy{2, 8, 8.0 / 48, Limiter::registers, 1, 960, 96, 0};
  in.facts.seen.variant->registers = 255;
  EXPECT_THAT(look(RuleId::latency_exposed, in.facts)->sentence, HasSubstr("No more fit: a CTA takes "));
  EXPECT_THAT(look(RuleId::latency_exposed, in.facts)->sentence, HasSubstr("registers, 255 a thread."));
}

TEST(LatencyExposed, OnlyWaitsThatOtherWarpsHide) {
  using enum TermKind;
  for (const TermKind term :
       {global_latency, shared_latency, local_latency, mufu_latency, shuffle_latency, constant_latency}) {
    Input in;
    in.stall(term, kLoad, 20);
    EXPECT_TRUE(look(RuleId::latency_exposed, in.facts)) << to_string(term);
  }
  for (const TermKind term : {instruction_latency, tensor_latency, barriers, l2_bandwidth}) {
    Input in;
    in.stall(term, kLoad, 20);
    EXPECT_FALSE(look(RuleId::latency_exposed, in.facts)) << to_string(term);
  }
}

TEST(MufuBound, SaysWhatTheFp32PipeDoesMeanwhile) {
  Input in;
  in.stall(TermKind::mufu, kSum, 20);
  EXPECT_DOUBLE_EQ(figure(look(RuleId::mufu_bound, in.facts), "FP32 operations for one of the MUFU"), 8);
  EXPECT_DOUBLE_EQ(saved(look(RuleId::mufu_bound, in.facts)), 20);
}

TEST(DoubleUsed, TakesTheConversionsOfItsLinesWithIt) {
  Input in;
  in.add(Unit::fp64, kSum, 10);
  in.add(Unit::conversion, kSum, 4);
  in.add(Unit::conversion, kLoad, 3);
  const auto found = look(RuleId::double_used, in.facts);
  EXPECT_DOUBLE_EQ(saved(found), 14);
  EXPECT_DOUBLE_EQ(figure(found, "doubles of an SM and clock"), 2);
  EXPECT_DOUBLE_EQ(figure(found, "floats of an SM and clock"), 128);
}

TEST(IntegerDivision, TakesSixIntegerInstructionsAndFewerFloats) {
  const auto found = [](int integers, int products, int floats) {
    Input in;
    for (const Unit unit : {Unit::conversion, Unit::conversion, Unit::mufu}) in.add(unit, 50, 5);
    for (int i = 0; i < products; ++i) in.add(Unit::imad, 50, 1);
    for (int i = 0; i < integers; ++i) in.add(Unit::integer, 50, 1);
    for (int i = 0; i < floats; ++i) in.add(Unit::fp32, 50, 1);
    return look(RuleId::integer_division, in.facts);
  };
  EXPECT_DOUBLE_EQ(figure(found(4, 2, 0), "instructions of the line"), 9);
  EXPECT_DOUBLE_EQ(saved(found(4, 2, 3)), 21) << "without the floats";
  EXPECT_FALSE(found(3, 2, 0));
  EXPECT_FALSE(found(6, 0, 0)) << "no product corrects the estimate";
  EXPECT_FALSE(found(4, 2, 4));
}

// The code of a division at a line of a grid-stride loop. With `floats`, the line's code divides floats too.
std::string said_of_line(const std::string& text, bool floats, const std::string& step = "gridDim.x * blockDim.x",
                         const std::string& macros = "") {
  Input in;
  in.kernel.source = macros + "\n__global__ void made_up(float* x, int n, int w) {\n" +
                     "  for (int i = threadIdx.x; i < n; i += " + step + ") {\n    " + text + "\n  }\n}\n";
  in.divide(4, 20);
  if (floats) in.add(Unit::mufu, 4);
  for (Instruction& one : in.facts.code) one.reciprocal = one.line == 4 && one.unit == Unit::mufu;
  const auto found = look(RuleId::integer_division, in.facts);
  EXPECT_TRUE(found);
  return found ? found->sentence : "";
}

TEST(IntegerDivision, OfALoopsRunsIsNotTheLines) {
  const auto of_loop = HasSubstr("counts the runs of the loop at made_up.cu:3 by a division of integers");
  const auto of_line = HasSubstr("made_up.cu:4 divides integers, or takes a remainder, by a number that only the run");
  EXPECT_THAT(said_of_line("x[i] = 2.f;", false), of_loop);
  EXPECT_THAT(said_of_line("x[i] = 2.f;  // i / w", false), of_loop);
  EXPECT_THAT(said_of_line("x[i] = i / 32;", false), of_loop) << "that is a shift";
  EXPECT_THAT(said_of_line("x[i] = i / ROWS;", false), of_loop) << "a knob is known";
  EXPECT_THAT(said_of_line("x[i] = 2.f;", false), HasSubstr("What helps: #pragma unroll 1 before a loop"));
  EXPECT_THAT(said_of_line("x[i] = i / w;", false), of_line);
  EXPECT_THAT(said_of_line("x[i] = i % w;", false), of_line);
  EXPECT_THAT(said_of_line("x[i] = i / w;", false), HasSubstr("What helps: a divisor that is known"));
  EXPECT_THAT(said_of_line("x[i] = UP(i, w);", false, "blockDim.x", "#define UP(a, b) (((a) + (b) - 1) / (b))"),
              of_line);
  EXPECT_THAT(said_of_line("x[i] = f(i);", false, "32"), of_line) << "a step that is known needs no division";
}

TEST(IntegerDivision, OfALoopsRunsStandsAtALineThatDividesFloats) {
  EXPECT_THAT(said_of_line("x[i] = x[i] / (1.f - n);", true), HasSubstr("counts the runs of the loop at made_up.cu:3"));
  EXPECT_THAT(said_of_line("x[i] = x[i] / float(i / w);", true), HasSubstr("made_up.cu:4 divides integers"));
}

TEST(ErrorHalf, IsFromOneAndAHalfTimesOnAndAWarningOverTwo) {
  const auto severity = [](double times) -> std::optional<Severity> {
    Input in;
    in.kernel.accumulate = "f16";
    Verdict& verdict = in.facts.seen.verdict.emplace();
    verdict.rows_checked = 1, verdict.naive_rel_frobenius = 1, verdict.rel_frobenius = times;
    const auto found = look(RuleId::error_half, in.facts);
    return found ? std::optional(found->severity) : std::nullopt;
  };
  EXPECT_EQ(severity(1.49), std::nullopt);
  EXPECT_EQ(severity(1.5), Severity::info);
  EXPECT_EQ(severity(2), Severity::info);
  EXPECT_EQ(severity(2.01), Severity::warning);
}

TEST(Places, AnUnknownLineHasNoNumber) {
  EXPECT_EQ(place({.file = "a.cu", .line = 7}), "a.cu:7");
  EXPECT_EQ(place({.file = "a.cu"}), "an unknown line");
  const Instruction phase_only{.phase = "sum"};
  const Finding at = note(RuleId::mufu_bound, Severity::info, "It waits.", {}, &phase_only);
  EXPECT_EQ(at.where, (std::map<std::string, std::string>{{"phase", "sum"}}));
}

}  // namespace
}  // namespace attnscope::explain
