// The clocks of a GPU's SMs, which each SM counts for itself, on one axis.
#include "measure/clock_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace attnscope::measure {
namespace {

using testing::HasSubstr;

constexpr ClockTwin kTwin{44, 40, 2, 2};

// At 2,000 MHz, two SMs whose counts are a million apart: SM 0 was read at 1,000 ns, SM 1 at 1,050 ns. CTAs of two
// warps: 0 and 2 follow each other on SM 0, 1 runs on SM 1, and 3 on SM 0 beside 0.
ClockSpans two_sms() {
  ClockSpans made;
  made.total_ctas = 4, made.warps = 2;
  made.before = {{5000, 1000, 0, 0}, {1005100, 1050, 1, 0}, {5900, 1450, 0, 0}};
  made.after = {{25000, 11000, 0, 0}, {1025100, 11050, 1, 0}};
  made.spans = {{6000, 7000, 0, 0},       {6010, 7100, 0, 0},        // CTA 0
                {1006020, 1007020, 1, 0}, {1006030, 1007000, 1, 0},  // CTA 1
                {7200, 8000, 0, 0},       {7200, 8200, 0, 0},        // CTA 2
                {6050, 6900, 0, 0},       {6050, 6950, 0, 0}};       // CTA 3
  return made;
}

TEST(ClockSpans, SmsAreAlignedByGlobaltimerAndDurationsAreTheClocks) {
  const auto made = measured_timeline(two_sms(), 2, kTwin, {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->measured());
  EXPECT_NEAR(made->clock_mhz, 2000, 1e-6);
  ASSERT_EQ(made->ctas.size(), 4U);
  EXPECT_EQ(made->ctas[0].from, 0);
  EXPECT_EQ(made->ctas[0].to, 1100) << "until its last warp ends";
  // SM 1 read 1,005,100 when SM 0, 50 ns later than its reading, counted 5,100: 1,006,020 there is 6,020 here.
  EXPECT_NEAR(made->ctas[1].from, 20, 1e-6);
  EXPECT_NEAR(made->ctas[1].to, 1020, 1e-6);
}

TEST(ClockSpans, ACtaTakesThePlaceThatIsFree) {
  const auto made = measured_timeline(two_sms(), 2, kTwin, {});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->sm, 0) << "it has the most CTAs";
  EXPECT_EQ(made->places, 2);
  EXPECT_EQ(made->ctas[0].place, 0);
  EXPECT_EQ(made->ctas[2].place, 0) << "after CTA 0";
  EXPECT_EQ(made->ctas[3].place, 1) << "beside CTA 0";
  EXPECT_EQ(made->clocks, 2200);
  ASSERT_EQ(made->warps.size(), 4U) << "two places of two warps";
  ASSERT_EQ(made->spans.size(), 6U);
  EXPECT_EQ(made->spans[0], (WarpSpan{0, 0, 0, 1000}));
  EXPECT_EQ(made->spans[1], (WarpSpan{0, 2, 1200, 2000}));
  EXPECT_EQ(made->spans[5].row, 3);
  EXPECT_EQ(made->spans[5].cta, 3);
}

TEST(ClockSpans, AnotherSmAndOtherClocks) {
  TimelineAsk ask{.measured = true, .sm = 1};
  const auto other = measured_timeline(two_sms(), 2, kTwin, ask);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->spans.size(), 2U);
  ask = {.measured = true, .sm = 0, .from = 1150, .to = 1500};
  const auto late = measured_timeline(two_sms(), 2, kTwin, ask);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->from, 1150);
  EXPECT_EQ(late->to(), 1500);
  EXPECT_EQ(late->spans.size(), 2U) << "only CTA 2 runs then";
  ask.sm = 2;
  const auto none = measured_timeline(two_sms(), 2, kTwin, ask);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().stage, Stage::input);
}

TEST(ClockSpans, WhatCannotBeReadIsRefused) {
  const auto refusal = [](const ClockSpans& spans) {
    const auto made = measured_timeline(spans, 2, kTwin, {});
    return made ? std::string() : made.error().message;
  };
  ClockSpans one = two_sms();
  one.spans[5].to = 0;
  EXPECT_THAT(refusal(one), HasSubstr("warp 1 of CTA 2 did not record its end"));
  one = two_sms();
  one.spans[2].sm = one.spans[3].sm = 7;
  EXPECT_THAT(refusal(one), HasSubstr("the clock of SM 7 was not read"));
  one = two_sms();
  one.after = one.before;
  EXPECT_THAT(refusal(one), HasSubstr("stand still"));
}

// The clocks of an H200: bench/results/timeline_h200.txt has what they say.
TEST(ClockSpans, ARecordedLaunchIsAsTheTableSays) {
  std::ifstream in(std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/gpu/clocks_mma_h200.json");
  const auto recorded = nlohmann::json::parse(in);
  ClockSpans read;
  read.warps = recorded.at("warps"), read.total_ctas = recorded.at("total_ctas");
  for (const auto& one : recorded.at("spans")) read.spans.push_back({one.at(1), one.at(2), one.at(0), 0});
  for (const auto& one : recorded.at("before")) read.before.push_back({one.at(1), one.at(2), one.at(0), 0});
  for (const auto& one : recorded.at("after")) read.after.push_back({one.at(1), one.at(2), one.at(0), 0});
  const auto made = measured_timeline(read, 132, kTwin, {});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->ctas.size(), 128U);
  EXPECT_EQ(made->places, 1);
  std::set<int64_t> sms;
  std::vector<double> took;
  double begin = 0, end = 0;
  for (const CtaSpan& one : made->ctas) {
    sms.insert(one.sm);
    took.push_back(one.to - one.from);
    begin = std::max(begin, one.from);
    end = std::max(end, one.to);
  }
  EXPECT_EQ(sms.size(), 128U) << "each CTA has an SM of its own";
  std::ranges::sort(took);
  EXPECT_NEAR((took[63] + took[64]) / 2, 9951, 1);
  EXPECT_NEAR(begin, 390, 1) << "without the alignment the SMs' counts differ by far more";
  EXPECT_NEAR(end / made->clock_mhz, 5.35, 0.01);
}

}  // namespace
}  // namespace attnscope::measure
