#include "charts/hardware_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/observation_fields.h"

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

}  // namespace
}  // namespace attnscope::charts
