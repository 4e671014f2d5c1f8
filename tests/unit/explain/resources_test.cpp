// What resources say without a run: how many CTAs fit on an SM (question 10), and what the last wave costs (11).
#include "explain/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catalog/devices.h"

namespace attnscope::explain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<DeviceSpec> devices() {
  std::vector<DeviceSpec> all;
  for (const char* name : {"l4", "h200"}) {
    auto spec = catalog::load_device(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets/devices" /
                                     (std::string(name) + ".json"));
    EXPECT_TRUE(spec) << spec.error().message;
    if (spec) all.push_back(*spec);
  }
  return all;
}

// The reports' kernel of 40 KB: they counted 4 CTAs on an SM of an L4, and 232 at once.
Json of_40_kb(const Json& change = Json::object()) {
  Json json{{"device", "emulated:l4"}, {"threads", 128}, {"registers", 64}, {"static_shared", 40960}};
  json.update(change);
  return json;
}

ResourcesSaid said(const Json& resources) {
  auto made = findings_of_resources(resources, "r.json", devices());
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(ResourcesSaid{});
}

std::vector<std::string> rules(const ResourcesSaid& said) {
  std::vector<std::string> names;
  for (const Finding& one : said.findings) names.push_back(one.rule.name());
  return names;
}

double figure(const Finding& finding, const std::string& name) {
  for (const Evidence& one : finding.evidence)
    if (one.name == name) return one.value;
  ADD_FAILURE() << "no " << name;
  return -1;
}

TEST(Resources, TwoCtasOf40KbFitOnAnSm) {
  const ResourcesSaid seen = said(of_40_kb());
  EXPECT_EQ(seen.occupancy.ctas_per_sm, 2);
  EXPECT_EQ(seen.occupancy.resident_ctas, 116);
  EXPECT_EQ(seen.occupancy.total_ctas, 0);
  ASSERT_THAT(rules(seen), ElementsAre("occupancy.low"));
  const Finding& found = seen.findings.front();
  EXPECT_EQ(found.severity, Severity::warning);
  EXPECT_THAT(found.sentence, StartsWith("2 CTAs fit on an SM, 8 of 48 warps, and 116 on the device: a CTA takes "
                                         "41,984 B of an SM's 102,400 B of shared memory, 1,024 B of them"));
  EXPECT_DOUBLE_EQ(figure(found, "CTAs at once"), 116);
}

// The bytes and registers that it names are the most: one more unit does not fit.
TEST(Resources, NamesWithHowMuchOneMoreFits) {
  const auto bytes = int64_t(figure(said(of_40_kb()).findings.front(), "with which one more fits"));
  EXPECT_EQ(said(of_40_kb({{"static_shared", bytes}})).occupancy.ctas_per_sm, 3);
  EXPECT_EQ(said(of_40_kb({{"static_shared", bytes + 1}})).occupancy.ctas_per_sm, 2);
  const Json many{{"device", "emulated:l4"}, {"threads", 256}, {"registers", 128}};
  const auto registers = int64_t(figure(said(many).findings.front(), "with which one more fits"));
  Json fewer = many;
  fewer["registers"] = registers;
  EXPECT_EQ(said(many).occupancy.ctas_per_sm, 2);
  EXPECT_EQ(said(fewer).occupancy.ctas_per_sm, 3);
  fewer["registers"] = registers + 1;
  EXPECT_EQ(said(fewer).occupancy.ctas_per_sm, 2);
}

// 128 CTAs for 116 places.
TEST(Resources, TwelveCtasOf128RunASecondWave) {
  const ResourcesSaid seen = said(of_40_kb({{"ctas", 128}}));
  ASSERT_THAT(rules(seen), ElementsAre("occupancy.low", "grid.tail"));
  const Finding& tail = seen.findings.back();
  EXPECT_EQ(tail.severity, Severity::warning);
  EXPECT_DOUBLE_EQ(figure(tail, "places"), 116);
  EXPECT_DOUBLE_EQ(figure(tail, "CTAs of the last wave"), 12);
  EXPECT_DOUBLE_EQ(figure(tail, "SMs' time without a CTA"), 100 * (1 - 128.0 / 58 / 3));
  EXPECT_THAT(tail.sentence, HasSubstr("With one more CTA on each SM it would be one wave."));
}

TEST(Resources, AnotherGridOrAnotherTileHasNoTail) {
  EXPECT_THAT(rules(said(of_40_kb({{"ctas", 116}}))), ElementsAre("occupancy.low"));
  EXPECT_THAT(rules(said(of_40_kb({{"ctas", 232}}))), ElementsAre("occupancy.low"));
  EXPECT_THAT(rules(said(of_40_kb({{"ctas", 128}, {"static_shared", 30000}}))), ElementsAre("occupancy.low"));
  EXPECT_THAT(rules(said(of_40_kb({{"ctas", 100 * 116 + 12}}))), ElementsAre("occupancy.low")) << "a hundredth";
}

TEST(Resources, AFullSmIsNoFinding) {
  for (const Json& clean : {Json{{"device", "emulated:l4"}, {"threads", 128}, {"registers", 40}},
                            Json{{"device", "emulated:l4"}, {"threads", 256}, {"registers", 32}, {"ctas", 348}},
                            Json{{"device", "emulated:h200"}, {"threads", 1024}, {"registers", 32}, {"ctas", 264}},
                            Json{{"device", "emulated:l4"}, {"threads", 32}, {"registers", 24}, {"ctas", 58}}})
    EXPECT_THAT(rules(said(clean)), IsEmpty()) << clean;
}

TEST(Resources, HalfTheWarpsIsAWarningAndMoreIsANote) {
  Json of{{"device", "emulated:h200"}, {"threads", 256}, {"registers", 64}};
  EXPECT_EQ(said(of).findings.front().severity, Severity::warning);
  of["registers"] = 48;
  EXPECT_EQ(said(of).findings.front().severity, Severity::info);
}

TEST(Resources, AGridOfFewCtasLeavesSmsIdle) {
  const ResourcesSaid seen = said(of_40_kb({{"ctas", 29}}));
  ASSERT_THAT(rules(seen), ElementsAre("occupancy.low", "grid.small"));
  EXPECT_THAT(seen.findings.back().sentence, HasSubstr("29 CTAs and the device 58 SMs: 50 % of it is idle"));
}

TEST(Resources, WhatTheDeviceRefusesIsAnError) {
  for (const auto& [change, says] : {std::pair{Json{{"static_shared", 49153}}, "static shared memory"},
                                     {Json{{"dynamic_shared", 60417}}, "101,377 B of shared memory"},
                                     {Json{{"threads", 1056}}, "threads"},
                                     {Json{{"registers", 255}, {"threads", 512}}, "registers"}}) {
    const ResourcesSaid seen = said(of_40_kb(change));
    ASSERT_THAT(rules(seen), ElementsAre("limits.exceeded")) << change;
    EXPECT_EQ(seen.findings.front().severity, Severity::error);
    EXPECT_THAT(seen.findings.front().sentence, HasSubstr(says));
    EXPECT_EQ(seen.occupancy.ctas_per_sm, 0);
  }
}

TEST(Resources, AFaultyFileIsRefusedByItsPointer) {
  Json missing = of_40_kb();
  missing.erase("registers");
  for (const auto& [json, says] : {std::pair{missing, "registers"},
                                   {of_40_kb({{"threads", 0}}), "threads"},
                                   {of_40_kb({{"registers", "64"}}), "registers"},
                                   {of_40_kb({{"static_shared", -1}}), "static_shared"},
                                   {of_40_kb({{"ctas", 0}}), "ctas"},
                                   {of_40_kb({{"ctas", 1e30}}), "ctas"},
                                   {of_40_kb({{"warps", 4}}), "warps"},
                                   {Json::array(), "r.json"},
                                   {of_40_kb({{"device", "emulated:l5"}}), "device: there is no device emulated:l5"}}) {
    const auto made = findings_of_resources(json, "r.json", devices());
    ASSERT_FALSE(made) << says;
    EXPECT_EQ(made.error().stage, Stage::input);
    EXPECT_THAT(made.error().message, HasSubstr(says));
    EXPECT_THAT(made.error().message, StartsWith("r.json"));
  }
  EXPECT_THAT(findings_of_resources(of_40_kb({{"device", "l4"}}), "r.json", devices()).error().hint,
              HasSubstr("emulated:h200"));
}

}  // namespace
}  // namespace attnscope::explain
