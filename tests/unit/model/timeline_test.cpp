// What the warps and CTAs of an SM do over time, for hand-made traces that can be counted by hand.
#include "model/timeline.h"

#include <gtest/gtest.h>

#include "model/warp_recorder.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::model {
namespace {

ScheduledInstruction global_load() {
  ScheduledInstruction load = instruction(Unit::global_load);
  load.write_scoreboard = 0;
  load.passes = load.sectors = 1;
  return load;
}

struct Made {
  SmTimeline timeline;
  double clocks = 0;  // latency()'s, without the launch
};

Made timeline_of(const KernelSchedule& schedule, int64_t ctas, int64_t resident, TimelineAsk ask = {},
                 size_t columns = SmTimeline::kColumns, int64_t sms = 2) {
  DeviceSpec spec = round_rates();
  spec.sms = sms;
  spec.clock_mhz = 1000;
  spec.rates["launch_us"] = 0;
  const LaunchShape launch{{ctas, 1, 1}, {32, 1, 1}};
  Occupancy occupancy;
  occupancy.ctas_per_sm = resident;
  occupancy.total_ctas = ctas;
  const LatencyInput in{spec, {}, {}, launch, occupancy, {}, &schedule};
  return {timeline(in, ask, columns), latency(in).timing.p50 * 1000};
}

// Clocks in the state, for one warp or for all.
double clocks_of(const SmTimeline& made, WarpState state, int64_t warp = -1) {
  double sum = 0;
  for (size_t w = 0; w < made.warps.size(); ++w)
    for (size_t at = 0; at < static_cast<size_t>(made.columns) && (warp < 0 || w == size_t(warp)); ++at)
      sum += double(made.share(w, at, state)) * made.column;
  return sum;
}

TEST(Timeline, AWarpsClocksAreWhatItWaitsFor) {
  // A load takes 300 clocks and one for its sector; a shared load 20 and the instruction that uses it.
  ScheduledInstruction near = shared_load(1);
  const Made made = timeline_of(schedule({{global_load(), use(), near, use()}}, {{0}}), 1, 1, {}, 512, 1);
  const SmTimeline& t = made.timeline;
  ASSERT_EQ(t.warps.size(), 1U);
  EXPECT_TRUE(t.complete);
  EXPECT_EQ(clocks_of(t, WarpState::issue), 4);
  EXPECT_NEAR(clocks_of(t, WarpState::memory), 300, 1);
  EXPECT_NEAR(clocks_of(t, WarpState::shared), 19, 1);
  EXPECT_EQ(clocks_of(t, WarpState::barrier), 0);
  double sum = 0;
  for (const auto& [state, word] : Words<WarpState>::table) sum += clocks_of(t, state);
  EXPECT_NEAR(sum, t.clocks, 2) << "the warp is always in some state";
  EXPECT_NEAR(t.clocks, made.clocks, 1);
}

TEST(Timeline, AnEarlyWarpWaitsAtTheBarrierForALateOne) {
  const std::vector<ScheduledInstruction> work(200, instruction(Unit::fp32));
  const std::vector<ScheduledInstruction> barrier{instruction(Unit::barrier), instruction(Unit::control)};
  const SmTimeline t = timeline_of(schedule({work, barrier}, {{1}, {0, 1}}), 1, 1, {}, 512, 1).timeline;
  ASSERT_EQ(t.warps.size(), 2U);
  EXPECT_NEAR(clocks_of(t, WarpState::barrier, 0), 200 + 10, 2);
  EXPECT_NEAR(clocks_of(t, WarpState::barrier, 1), 10, 2) << "the barrier's own latency";
}

TEST(Timeline, TwoWarpsOfASchedulerTakeTurns) {
  const std::vector<ScheduledInstruction> work(100, instruction(Unit::fp32));
  const SmTimeline t = timeline_of(schedule({work}, {{0}, {}, {}, {}, {0}}), 1, 1, {}, 512, 1).timeline;
  EXPECT_EQ(clocks_of(t, WarpState::turn, 0), 0);
  EXPECT_NEAR(clocks_of(t, WarpState::turn, 4), 100, 1) << "of two that could issue the first one does";
  EXPECT_EQ(clocks_of(t, WarpState::issue), 200);
}

TEST(Timeline, AWarpThatWaitsForItsCodeDoesNotWaitForItsTurn) {
  const std::vector<ScheduledInstruction> large(4096, instruction(Unit::fp32));
  const SmTimeline t = timeline_of(schedule({large}, {times(3)}), 1, 1, {}, 512, 1).timeline;
  EXPECT_NEAR(clocks_of(t, WarpState::turn), 0, 1);
  EXPECT_GT(clocks_of(t, WarpState::result), 2 * 4096) << "of 2.2 clocks an instruction 1.2 are waits";
}

// Five CTAs on two SMs with one place each: SM 0 runs CTAs 0, 2 and 4, SM 1 runs 1 and 3.
TEST(Timeline, EqualCtasGoToTheSmsInTurns) {
  const std::vector<ScheduledInstruction> work(100, instruction(Unit::fp32));
  const SmTimeline t = timeline_of(schedule({work}, {{0}}), 5, 1).timeline;
  EXPECT_FALSE(t.by_instructions);
  ASSERT_EQ(t.ctas.size(), 5U);
  for (int64_t cta = 0; cta < 5; ++cta) {
    const CtaSpan& one = t.ctas[size_t(cta)];
    EXPECT_EQ(one.cta, cta);
    EXPECT_EQ(one.sm, cta % 2);
    EXPECT_NEAR(one.from, 100 * double(cta / 2), 6);
    EXPECT_NEAR(one.to - one.from, 100, 6);
  }
  EXPECT_EQ(t.sm, 0) << "the one with the most CTAs";
  TimelineAsk other;
  other.sm = 1;
  const SmTimeline second = timeline_of(schedule({work}, {{0}}), 5, 1, other).timeline;
  EXPECT_EQ(second.sm, 1);
  EXPECT_LT(second.clocks, t.clocks - 90) << "it has one fewer";
  EXPECT_EQ(second.ctas, t.ctas) << "whichever SM's warps are shown";
  EXPECT_EQ(clocks_of(second, WarpState::issue), 200);
}

TEST(Timeline, AnSmWithoutACtaHasNoWarps) {
  TimelineAsk empty;
  empty.sm = 1;
  const SmTimeline t = timeline_of(schedule({{instruction(Unit::fp32)}}, {{0}}), 1, 1, empty).timeline;
  EXPECT_EQ(t.sm, 1);
  EXPECT_TRUE(t.warps.empty());
  EXPECT_EQ(t.ctas.size(), 1U);
}

// Traced CTAs of 10 and 40 instructions: the second SM has the longer ones.
TEST(Timeline, CtasThatDifferEndByTheirInstructions) {
  KernelSchedule s = schedule({{instruction(Unit::fp32)}}, {{}});
  s.traces = {{0, {std::vector<Visit>(10, Visit{0, 32})}}, {1, {std::vector<Visit>(40, Visit{0, 32})}}};
  const SmTimeline t = timeline_of(s, 2, 1).timeline;
  EXPECT_TRUE(t.by_instructions);
  EXPECT_EQ(t.sm, 1);
  ASSERT_EQ(t.ctas.size(), 2U);
  EXPECT_EQ(t.ctas[0].sm, 0);
  EXPECT_NEAR(t.ctas[0].to, t.ctas[1].to / 4, 1) << "at the other SM's rate";
  EXPECT_EQ(clocks_of(t, WarpState::issue), 40);
}

TEST(Timeline, ColumnsGrowWithTheTimeAndLoseNothing) {
  const std::vector<ScheduledInstruction> work(1000, instruction(Unit::fp32));
  const KernelSchedule s = schedule({work}, {{0}});
  const SmTimeline fine = timeline_of(s, 1, 1, {}, 512, 1).timeline, coarse = timeline_of(s, 1, 1, {}, 7, 1).timeline;
  EXPECT_LE(coarse.columns, 7);
  EXPECT_GT(coarse.column, fine.column);
  EXPECT_NEAR(clocks_of(coarse, WarpState::issue), 1000, 0.01);
  EXPECT_NEAR(clocks_of(fine, WarpState::issue), 1000, 0.01);
}

TEST(Timeline, OnlyTheClocksAskedForAreCut) {
  const std::vector<ScheduledInstruction> work(1000, instruction(Unit::fp32));
  TimelineAsk ask;
  ask.from = 300, ask.to = 364;
  const SmTimeline t = timeline_of(schedule({work}, {{0}}), 1, 1, ask, 64, 1).timeline;
  EXPECT_EQ(t.from, 300);
  EXPECT_EQ(t.column, 1);
  EXPECT_EQ(t.columns, 64);
  EXPECT_NEAR(clocks_of(t, WarpState::issue), 64, 0.01);
  EXPECT_GT(t.clocks, 999) << "the SM's own end";
}

// Repeated passes are not left out of the timeline, and take as long as where they are.
TEST(Timeline, ALoopIsSeenInFull) {
  const auto s = folded(schedule({{global_load(), use()}}, {times(2000)}));
  const Made made = timeline_of(s, 1, 1, {}, 512, 1);
  EXPECT_NEAR(clocks_of(made.timeline, WarpState::issue), 4000, 1);
  EXPECT_NEAR(made.timeline.clocks, made.clocks, 0.01 * made.clocks);
}

TEST(Timeline, AClockOutsideHasNoCta) {
  const SmTimeline t = timeline_of(schedule({{instruction(Unit::fp32)}}, {{0}}), 1, 1, {}, 512, 1).timeline;
  ASSERT_NE(t.cta_at(0, 0), nullptr);
  EXPECT_EQ(t.cta_at(0, 0)->cta, 0);
  EXPECT_EQ(t.cta_at(0, t.clocks + 10), nullptr);
  EXPECT_EQ(t.cta_at(1, 0), nullptr);
}

}  // namespace
}  // namespace attnscope::model
