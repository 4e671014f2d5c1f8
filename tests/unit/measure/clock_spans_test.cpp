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

TEST(ClockSpans, SaysWhatWasRecordedAndOfWhatGrid) {
  ClockSpans part = two_sms();
  part.total_ctas = 900;
  const auto made = measured_timeline(part, 46, kTwin, {.measured = true, .from = 300});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->total_ctas, 900);
  EXPECT_EQ(made->sms, 46);
  EXPECT_EQ(made->twin, kTwin);
  EXPECT_EQ(made->columns, 1);
  EXPECT_EQ(made->from, 300);
  EXPECT_EQ(made->to(), 2200) << "to the SM's last clock, unless an end is asked for";
  for (size_t cta = 0; cta < 4; ++cta) EXPECT_EQ(made->ctas[cta].cta, int64_t(cta));
  EXPECT_EQ(made->ctas[1].sm, 1);
  EXPECT_EQ(measured_timeline(part, 46, kTwin, {.measured = true, .from = 9000})->column, 1) << "never empty";
}

TEST(ClockSpans, AnSmBeyondThoseOfTheDeviceCounts) {
  ClockSpans far = two_sms();
  for (auto* clocks : {&far.before, &far.after}) (*clocks)[1].sm = 5;
  far.spans[2].sm = far.spans[3].sm = 5;
  EXPECT_EQ(measured_timeline(far, 2, kTwin, {.measured = true, .sm = 5})->spans.size(), 2U);
  const auto none = measured_timeline(far, 2, kTwin, {.measured = true, .sm = 6});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "there is no SM 6");
  EXPECT_EQ(none.error().hint, "The SMs are 0 to 5.");
}

// One that was read at half the rate, and one that stands still, do not decide.
TEST(ClockSpans, TheRateIsThatOfTheMiddleSm) {
  ClockSpans more = two_sms();
  more.before.push_back({100, 1000, 2, 0});
  more.after.push_back({10100, 11000, 2, 0});  // 1,000 MHz
  more.before.push_back({100, 1000, 3, 0});
  more.after.push_back({100, 11000, 3, 0});
  more.before.push_back({100, 1000, 4, 0});
  more.after.push_back({10100, 1000, 4, 0});
  more.before.push_back({100, 1000, 6, 0});  // and was not read again
  const auto made = measured_timeline(more, 8, kTwin, {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_NEAR(made->clock_mhz, 2000, 1e-6);
}

TEST(ClockSpans, OnlySpansInsideTheClocksAskedForAreShown) {
  const auto shown = [](int64_t from, int64_t to) {
    return measured_timeline(two_sms(), 2, kTwin, {.measured = true, .sm = 0, .from = from, .to = to})->spans.size();
  };
  // CTA 0 runs to 1,000 and 1,100, CTA 3 from 50 to 900 and 950, CTA 2 from 1,200 to 2,000 and 2,200.
  EXPECT_EQ(shown(0, 50), 2U) << "what begins at the end is not";
  EXPECT_EQ(shown(0, 51), 4U);
  EXPECT_EQ(shown(950, 1200), 2U) << "nor what ends at the begin";
  EXPECT_EQ(shown(949, 1201), 5U);
  EXPECT_EQ(shown(1100, 1200), 0U);
}

TEST(ClockSpans, AWarpMustRecordBothEnds) {
  const auto fine = [](uint64_t from, uint64_t to) {
    ClockSpans one = two_sms();
    one.spans[4].from = from, one.spans[4].to = to;
    return measured_timeline(one, 2, kTwin, {}).has_value();
  };
  EXPECT_TRUE(fine(7200, 8000));
  EXPECT_TRUE(fine(7200, 7200)) << "of no length";
  EXPECT_FALSE(fine(7200, 7199));
  EXPECT_FALSE(fine(0, 8000));
}

TEST(ClockSpans, AnSmHasAsManyRowsAsAPictureHolds) {
  ClockSpans many;
  many.total_ctas = 1, many.warps = int64_t(SmTimeline::kMostWarps) + 3;
  many.before = {{1000, 1000, 0, 0}};
  many.after = {{21000, 11000, 0, 0}};
  for (int64_t warp = 0; warp < many.warps; ++warp)
    many.spans.push_back({2000 + uint64_t(warp), 3000 + uint64_t(warp), 0, 0});
  const auto made = measured_timeline(many, 1, kTwin, {});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->warps.size(), SmTimeline::kMostWarps);
  ASSERT_EQ(made->spans.size(), SmTimeline::kMostWarps) << "a span of a row that there is not is left out";
  for (size_t row = 0; row < made->warps.size(); ++row) {
    EXPECT_EQ(made->warps[row].warp, int64_t(row));
    EXPECT_EQ(made->spans[row].row, int64_t(row));
    EXPECT_EQ(made->spans[row].from, double(row));
  }
  EXPECT_EQ(made->ctas[0].to, 1000 + double(many.warps - 1)) << "the CTA ends with its last warp";
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
