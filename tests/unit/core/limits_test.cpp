// The largest and smallest values that devices, views and timelines from outside may hold, and one beyond each.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "core/device_spec.h"
#include "core/experiment.h"
#include "core/fields.h"
#include "core/sm_timeline_fields.h"
#include "core/softmax_fields.h"
#include "core/view.h"

namespace attnscope {
namespace {

struct Limit {
  const char* pointer;
  Json kept, beyond;
};

// `read` returns why a value is refused; empty: it is taken.
void expect_limits(const Json& good, const std::function<std::string(const Json&)>& read,
                   const std::vector<Limit>& limits) {
  ASSERT_EQ(read(good), "");
  for (const auto& [pointer, kept, beyond] : limits) {
    Json json = good;
    json[Json::json_pointer(pointer)] = kept;
    EXPECT_EQ(read(json), "") << pointer;
    json[Json::json_pointer(pointer)] = beyond;
    EXPECT_NE(read(json).find(pointer), std::string::npos) << pointer << ": " << read(json);
  }
}

template <class T>
std::string refusal(const Result<T>& read) {
  return read ? "" : read.error().message;
}

TEST(Limits, OfADevice) {
  DeviceSpec spec;
  spec.id = spec.name = "d";
  spec.arch = 89;
  spec.sms = spec.warps_sm = spec.ctas_sm = 1;
  spec.registers_sm = spec.registers_block = spec.threads_block = 1;
  std::vector<Limit> limits{{"/arch", 50, 49},
                            {"/arch", 200, 201},
                            {"/id", std::string(200, 'x'), std::string(201, 'x')},
                            {"/name", "a b", "a\nb"},
                            {"/sms", 1, 0},
                            {"/sms", 100000, 100001},
                            {"/warps_sm", 1, 0},
                            {"/warps_sm", 1024, 1025},
                            {"/ctas_sm", 1, 0},
                            {"/ctas_sm", 1024, 1025},
                            {"/registers_sm", 1, 0},
                            {"/registers_block", 1, 0},
                            {"/threads_block", 1, 0},
                            {"/threads_block", 65536, 65537},
                            {"/runs", std::vector<Json>(100, "x"), std::vector<Json>(101, "x")}};
  for (const char* clock : {"/clock_mhz", "/sustained_clock_mhz"})
    limits.insert(limits.end(), {{clock, 0, -1}, {clock, 100000, 100001}});
  for (const char* rate : {"/dram_gbs", "/l2_mb", "/tensor_tflops_f16"})
    limits.insert(limits.end(), {{rate, 0, -1}, {rate, 1000000, 1000001}});
  for (const char* bytes : {"/shared_static_block", "/shared_optin_block", "/shared_sm", "/shared_reserved_block"})
    limits.insert(limits.end(), {{bytes, 0, -1}, {bytes, int64_t{1} << 40, (int64_t{1} << 40) + 1}});
  expect_limits(
      to_json(spec), [](const Json& json) { return refusal(device_spec_from_json(json, "d")); }, limits);
}

TEST(Limits, OfAView) {
  constexpr int64_t most = int64_t{1} << 40;
  std::vector<Limit> limits{{"/experiment_hash", std::string(64, 'x'), std::string(65, 'x')}};
  for (const char* place : {"/batch", "/head", "/row_begin", "/row_end"})
    limits.insert(limits.end(), {{place, 0, -1}, {place, most, most + 1}});
  for (const char* side : {"/width", "/height"}) limits.insert(limits.end(), {{side, 0, -1}, {side, 16384, 16385}});
  expect_limits(
      to_json(ViewRequest{}), [](const Json& json) { return refusal(view_request_from_json(json, "v")); }, limits);
}

TEST(Limits, OfATimelineThatIsAskedFor) {
  expect_limits(write_fields(TimelineAsk{}),
                [](const Json& json) { return refusal(read_fields<TimelineAsk>(json, "t")); },
                {{"/sm", -1, -2},
                 {"/sm", 1 << 20, (1 << 20) + 1},
                 {"/from", 0, -1},
                 {"/to", 16, 15},
                 {"/to", int64_t{1} << 50, (int64_t{1} << 50) + 1},
                 {"/step", 63, 64},
                 {"/step", 0, -1}});
}

TEST(Limits, OfASoftmaxRow) {
  constexpr int64_t most = int64_t{1} << 40;
  expect_limits(write_fields(SoftmaxRow{}),
                [](const Json& json) { return refusal(read_fields<SoftmaxRow>(json, "r")); },
                {{"/batch", most, most + 1}, {"/head", 0, -1}, {"/row", most, most + 1}});
}

TEST(SmTimeline, ACtaRunsFromItsStartUntilItsEnd) {
  SmTimeline timeline;
  timeline.sm = 2;
  timeline.ctas = {{7, 1, 0, 0, 100}, {8, 2, 1, 0, 100}, {9, 2, 0, 10, 20}, {10, 2, 0, 20, 30}};
  EXPECT_EQ(timeline.cta_at(0, 9.9), nullptr);
  EXPECT_EQ(timeline.cta_at(0, 10)->cta, 9);
  EXPECT_EQ(timeline.cta_at(0, 20)->cta, 10);
  EXPECT_EQ(timeline.cta_at(0, 30), nullptr);
  EXPECT_EQ(timeline.cta_at(1, 50)->cta, 8);
  timeline.from = 5, timeline.column = 2, timeline.columns = 10;
  EXPECT_EQ(timeline.to(), 25);
  EXPECT_FALSE(timeline.measured());
}

}  // namespace
}  // namespace attnscope
