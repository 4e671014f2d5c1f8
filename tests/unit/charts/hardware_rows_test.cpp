#include "charts/hardware_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/observation_fields.h"
#include "core/sampled_line.h"

namespace attnscope::charts {
namespace {

HardwareFigure figure(const std::vector<HardwareFigure>& all, std::string_view name) {
  for (const HardwareFigure& one : all)
    if (one.name == name) return one;
  ADD_FAILURE() << "no figure " << name;
  return {};
}

Counters counted() {
  Counters counters;
  counters.instructions = {{"fp32", 400}, {"total", 10000}};
  counters.threads = 320000;
  counters.shared_wavefronts = 100;
  counters.emulated_ctas = counters.total_ctas = 8;
  return counters;
}

TEST(HardwareRows, AMeasuredFigureStandsBesideTheCountOfTheSame) {
  HardwareCounters hardware;
  hardware.warp_instructions = 10000;
  hardware.threads = 320016;
  hardware.shared_wavefronts = 98;
  hardware.sm_busy = 41.26;
  hardware.dram_read_bytes = 36928;
  const Counters counts = counted();
  const auto all = hardware_figures(hardware, &counts);
  EXPECT_EQ(figure(all, "warp instructions").measured, "10,000");
  EXPECT_EQ(figure(all, "warp instructions").counted, "10,000");
  EXPECT_EQ(figure(all, "warp instructions").difference, "equal");
  EXPECT_EQ(figure(all, "thread instructions").difference, "+16") << "under a hundredth of a percent";
  EXPECT_EQ(figure(all, "shared wavefronts").difference, "-2.00 %");
  EXPECT_EQ(figure(all, "SM busy").measured, "41.3 %");
  EXPECT_EQ(figure(all, "SM busy").counted, "") << "the emulator counts no clocks";
  EXPECT_EQ(figure(all, "DRAM read").measured, "36,928 B");
  EXPECT_EQ(figure(all, "DRAM read").counted, "");
}

TEST(HardwareRows, WhatTheChipLacksIsADashAndHasNoDifference) {
  const Counters counts = counted();
  const auto all = hardware_figures({}, &counts);
  EXPECT_EQ(figure(all, "thread instructions").measured, "\u2013");
  EXPECT_EQ(figure(all, "thread instructions").counted, "320,000");
  EXPECT_EQ(figure(all, "thread instructions").difference, "");
}

TEST(HardwareRows, NoneCountedIsNotEqual) {
  HardwareCounters hardware;
  hardware.local_sectors = 5;
  hardware.global_load_sectors = 0;
  const Counters counts = counted();
  const auto all = hardware_figures(hardware, &counts);
  EXPECT_EQ(figure(all, "local sectors").difference, "none counted");
  EXPECT_EQ(figure(all, "global load sectors").difference, "equal");
}

TEST(HardwareRows, ASampleOfTheCtasIsNotCompared) {
  HardwareCounters hardware;
  hardware.warp_instructions = 10000;
  Counters counts = counted();
  counts.total_ctas = 16;
  for (const Counters* one : {static_cast<const Counters*>(&counts), static_cast<const Counters*>(nullptr)}) {
    const auto all = hardware_figures(hardware, one);
    EXPECT_EQ(figure(all, "warp instructions").measured, "10,000");
    EXPECT_EQ(figure(all, "warp instructions").counted, "");
    EXPECT_EQ(figure(all, "warp instructions").difference, "");
  }
}

TEST(HardwareRows, AsFigureStandsBesideTheMeasuredOne) {
  HardwareCounters hardware, a;
  hardware.warp_instructions = 10000;
  a.warp_instructions = 12000;
  a.dram_read_bytes = 64;
  EXPECT_EQ(figure(hardware_figures(hardware, nullptr, &a), "warp instructions").a, "12,000");
  EXPECT_EQ(figure(hardware_figures(hardware, nullptr, &a), "DRAM read").a, "64 B");
  EXPECT_EQ(figure(hardware_figures(hardware, nullptr, &a), "SM busy").a, "\u2013") << "the chip lacks it";
  EXPECT_EQ(figure(hardware_figures(hardware, nullptr), "warp instructions").a, "") << "A was not read";
}

TEST(HardwareRows, AFailedReadingHasNoCounters) {
  Observation reading;
  EXPECT_EQ(read_counters(nullptr), nullptr);
  EXPECT_EQ(read_counters(&reading), nullptr);
  reading.hardware.emplace();
  EXPECT_EQ(read_counters(&reading), &*reading.hardware);
  reading.hardware->failure = Failure{Stage::device, "no permission", ""};
  EXPECT_EQ(read_counters(&reading), nullptr);
  reading.hardware->failure.reset();
  reading.failure = Failure{Stage::launch, "an illegal access", ""};
  EXPECT_EQ(read_counters(&reading), nullptr);
}

TEST(HardwareRows, EveryMetricIsAskedForOnce) {
  std::vector<std::string_view> metrics;
  for_each_hardware_counter([&](const HardwareRow& row, auto) {
    for (const std::string_view metric : {row.metric, row.added, row.newer})
      if (!metric.empty()) metrics.push_back(metric);
    EXPECT_FALSE(row.metric.empty()) << row.label;
  });
  std::ranges::sort(metrics);
  EXPECT_TRUE(std::ranges::adjacent_find(metrics) == metrics.end());
}

std::vector<Finding> sampled() {
  const auto line = [](int64_t samples, std::optional<double> modelled, std::vector<SampledStall> stalls) {
    SampledLine made;
    made.samples = samples;
    made.share = double(samples) / 1000;
    made.modelled = modelled;
    made.stalls = std::move(stalls);
    return made;
  };
  SampledLine hot = line(600, 0.25, {{"barrier", 400}, {"selected", 200}});
  hot.file = "/far/away/k.cu";
  hot.line = 12;
  SampledLine issuing = line(300, {}, {{"selected", 250}, {"math_pipe_throttle", 50}});
  issuing.file = "k.cu";
  issuing.line = 13;
  const SampledLine nowhere = line(100, {}, {{"selected", 100}});
  Finding taken;
  taken.rule = Rule(RuleId::samples_taken);
  taken.sentence = "1,000 samples.";
  return {Finding{}, taken, to_finding(hot, ""), to_finding(issuing, ""), to_finding(nowhere, "")};
}

TEST(SampleRows, AWaitIsNamedAndAnIssueIsNone) {
  const auto rows = sample_rows(sampled(), 8);
  ASSERT_EQ(rows.size(), 3u) << "other findings have none";
  EXPECT_EQ(rows[0].place, "k.cu:12");
  EXPECT_EQ(rows[0].share, "60.0 %");
  EXPECT_EQ(rows[0].modelled, "25.0 %");
  EXPECT_EQ(rows[0].stall, "barrier 67 %") << "of the line's samples";
  EXPECT_EQ(rows[1].stall, "math pipe throttle 17 %") << "though most of its warps issue";
  EXPECT_EQ(rows[1].modelled, "\u2013");
  EXPECT_EQ(rows[2].place, "no line");
  EXPECT_EQ(rows[2].stall, "");
  EXPECT_EQ(sample_rows(sampled(), 2).size(), 2u);
}

TEST(SampleRows, AsShareIsThatOfTheSameLine) {
  std::vector<Finding> a = sampled();
  a.erase(a.begin() + 3);  // k.cu:13
  const auto rows = sample_rows(sampled(), 8, &a);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].a, "60.0 %");
  EXPECT_EQ(rows[1].a, "0.0 %") << "A's warps are never there";
  EXPECT_EQ(rows[2].a, "10.0 %") << "no known line";
  a = {Finding{}};
  EXPECT_EQ(sample_rows(sampled(), 8, &a)[0].a, "") << "A was not sampled";
  EXPECT_EQ(sample_rows(sampled(), 8)[0].a, "");
}

TEST(SampleRows, HowTheSamplingWentIsSaid) {
  EXPECT_EQ(samples_taken(sampled()).words, "1,000 samples.");
  EXPECT_FALSE(samples_taken(sampled()).refused);
  Finding refused;
  refused.rule = Rule(RuleId::samples_refused);
  refused.sentence = "no permission";
  EXPECT_TRUE(samples_taken({refused}).refused);
  EXPECT_EQ(samples_taken({Finding{}}).words, "");
}

// What the worker writes, the window reads: through JSON, too.
TEST(SampleRows, ALineComesBackFromItsFinding) {
  SampledLine line;
  line.samples = 30;
  line.unissued = 10;
  line.stalls = {{"barrier", 20}, {"selected", 10}};
  line.file = "k.cu";
  line.line = 7;
  line.share = 0.25;
  line.modelled = 0.5;
  const auto read = read_fields<Finding>(write_fields(to_finding(line, "A sentence.")), "finding");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(sampled_line_of(*read), line);
  Finding hostile = *read;
  hostile.evidence[0].value = -1e300;
  hostile.where["line"] = "x";
  EXPECT_EQ(sampled_line_of(hostile)->samples, 0);
  EXPECT_EQ(sampled_line_of(hostile)->line, 0);
  hostile.rule = Rule(RuleId::bank_conflicts);
  EXPECT_FALSE(sampled_line_of(hostile));
}

}  // namespace
}  // namespace attnscope::charts
