// Every metric that a row names exists in CUPTI: tests/data/cupti/metrics.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/observation_fields.h"

namespace attnscope {
namespace {

Json recorded_metrics() {
  std::ifstream file(std::string(ATTNSCOPE_SOURCE_DIR) + "/tests/data/cupti/metrics.json");
  return Json::parse(file);
}

TEST(HardwareFields, EveryMetricWasAskedOfCuptiAndNoOther) {
  std::set<std::string> ours;
  for_each_hardware_counter([&](const HardwareRow& row, auto) {
    for (const std::string_view metric : {row.metric, row.added, row.newer})
      if (!metric.empty()) ours.emplace(metric);
  });
  const auto asked = recorded_metrics().at("metrics").get<std::set<std::string>>();
  EXPECT_EQ(ours, asked);
}

TEST(HardwareFields, EveryChipHasEachFigureUnderOneOfItsNames) {
  const Json recording = recorded_metrics();
  for (const auto& [chip, says] : recording.at("chips").items()) {
    const auto lacks = says.at("lacks").get<std::set<std::string>>();
    const auto has = [&](std::string_view metric) { return !metric.empty() && !lacks.contains(std::string(metric)); };
    for_each_hardware_counter([&](const HardwareRow& row, auto) {
      EXPECT_TRUE(has(row.metric) || has(row.newer)) << row.label << " on " << chip;
      EXPECT_TRUE(row.added.empty() || has(row.added)) << row.label << " on " << chip;
    });
    EXPECT_GT(says.at("passes").get<int>(), 0) << chip;
  }
}

}  // namespace
}  // namespace attnscope
