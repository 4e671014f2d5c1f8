// The time that the same work would take in other CTAs, in numbers.
#include "explain/shared_out.h"

#include <gtest/gtest.h>

#include "model/rates.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

// 12 CTAs of four warps on 48 SMs of four schedulers: 3 us of launch and 97 us of work.
struct FewCtas : Input {
  FewCtas() {
    facts.seen.occupancy->total_ctas = 12;
    facts.seen.occupancy->ctas_per_sm = 12;
    facts.seen.occupancy->warps_per_sm = 48;
    facts.stalls.clear();
    stall(TermKind::launch, 0, 3);
    stall(TermKind::issue, kSum, 97);
  }
  double us(double ctas, double warps) const { return us_if_shared_out(facts, {ctas, warps}); }
};

TEST(SharedOut, AsItIsItTakesAsLongAsItDoes) {
  EXPECT_DOUBLE_EQ(FewCtas().us(12, 4), 100);
  FewCtas in;
  in.stall(TermKind::global_latency, kLoad, 30);
  in.facts.seen.timing->p50 = 130;
  in.facts.distinct_bytes = 1e5;
  EXPECT_DOUBLE_EQ(in.us(12, 4), 130);
}

TEST(SharedOut, WorkFollowsTheShareOfTheSmsThatHaveACta) {
  const FewCtas in;
  EXPECT_DOUBLE_EQ(in.us(24, 4), 3 + 97 / 2.0);
  EXPECT_DOUBLE_EQ(in.us(48, 4), 3 + 97 / 4.0);
  EXPECT_DOUBLE_EQ(in.us(6, 4), 3 + 97 * 2);
  EXPECT_DOUBLE_EQ(in.us(96, 4), 3 + 97 / 8.0 * 2) << "two CTAs of an SM: its schedulers have two warps each";
  EXPECT_DOUBLE_EQ(in.us(49, 4), 3 + 97 * 12 / 49.0 * 2) << "the busiest SM decides";
}

TEST(SharedOut, WarpsGoToTheSchedulersThatHaveNone) {
  const FewCtas in;
  EXPECT_DOUBLE_EQ(in.us(12, 8), 3 + 97 / 2.0 * 2) << "twice the warps on busy schedulers gain nothing";
  FewCtas one_warp;
  one_warp.facts.seen.occupancy->warps_per_sm = 12;
  EXPECT_DOUBLE_EQ(one_warp.us(12, 4), 3 + 97 / 4.0) << "each has a scheduler of its own";
  EXPECT_DOUBLE_EQ(one_warp.us(12, 5), 3 + 97 / 5.0 * 2);
}

TEST(SharedOut, LatenciesOfOneSchedulersWarpsOverlap) {
  using enum TermKind;
  for (int term = 0; term <= static_cast<int>(other); ++term) {
    const auto kind = static_cast<TermKind>(term);
    if (kind == launch) continue;
    FewCtas in;
    in.facts.stalls.pop_back();
    in.stall(issue, kSum, 97.0 / 2);
    in.stall(kind, kSum, 97.0 / 2);
    const bool overlaps = (kind >= instruction_latency && kind <= local_latency) || kind == barriers;
    const double beside = overlaps ? 0.5 * 2 + 0.5 : 2;
    EXPECT_DOUBLE_EQ(in.us(12, 8), 3 + 97 / 2.0 * beside) << to_string(kind);
  }
}

// A phase that loads what the other CTAs load too takes a smaller CTA as long.
TEST(SharedOut, WhatEveryCtaLoadsStays) {
  FewCtas in;
  in.facts.stalls.pop_back();
  in.stall(TermKind::issue, kLoad, 40);  // the phase that loads
  in.stall(TermKind::issue, kSum, 57);
  in.facts.distinct_bytes = 5e5;
  EXPECT_DOUBLE_EQ(in.us(24, 4), 3 + 97 / 2.0) << "twice is not often";
  in.facts.distinct_bytes = 4.9e5;
  EXPECT_DOUBLE_EQ(in.us(24, 4), 3 + 57 / 2.0 + 40);
  in.at(kLoad).issued = 0;  // and the instruction itself
  EXPECT_DOUBLE_EQ(in.us(24, 4), 3 + 57 / 2.0 + 40);
  in.at(kLoad).unit = model::Unit::fp32;
  EXPECT_DOUBLE_EQ(in.us(24, 4), 3 + 97 / 2.0) << "then nothing is loaded";
}

}  // namespace
}  // namespace attnscope::explain
