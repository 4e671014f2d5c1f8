#include "protocol/part.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace attnscope::protocol {
namespace {

Part part_of(const Json& json) {
  auto values = part_values_from_json(json);
  if (!values) ADD_FAILURE() << values.error().message;
  return Part{1, values.value_or(std::vector<PartValue>())};
}

Observation an_observation() {
  Observation o;
  o.device = "emulated:l4";
  o.versions.app = "0.1.0";
  o.variant.emplace();
  o.timing.emplace().p50 = 840;
  o.timing->bound = Bound::shared_memory;
  o.tflops = 0.5;
  o.findings.emplace_back().rule = Rule::named("same-code");
  o.failure = Failure{Stage::deadline, "m", "h"};
  return o;
}

TEST(Part, ReplacesWhatItHasAndNullClears) {
  Observation o = an_observation();
  apply_part(o, part_of({{"tflops", 2.0}, {"failure", nullptr}, {"findings", nullptr}, {"timing", {{"samples", 3}}}}));
  EXPECT_EQ(o.tflops, 2.0);
  EXPECT_FALSE(o.failure);
  EXPECT_TRUE(o.findings.empty());
  EXPECT_TRUE(o.variant);
  EXPECT_EQ(o.timing->samples, 3);
  EXPECT_EQ(o.timing->p50, 0) << "the whole of it is new";
}

TEST(Part, ADeviceAndVersionsAreNeverCleared) {
  Observation o = an_observation();
  apply_part(o, part_of({{"device", nullptr}, {"versions", nullptr}}));
  EXPECT_EQ(o.device, "emulated:l4");
  EXPECT_EQ(o.versions.app, "0.1.0");
}

TEST(Part, ABoundGoesIntoTheTimeThatIsThere) {
  Observation o = an_observation();
  apply_part(o, part_of({{"bound", "issue slots"}}));
  EXPECT_EQ(o.timing->bound, Bound::issue_slots);
  EXPECT_EQ(o.timing->p50, 840) << "the time stays";
  apply_part(o, part_of({{"bound", ""}}));
  EXPECT_EQ(o.timing->bound, Bound::issue_slots);
  apply_part(o, part_of({{"bound", "MUFU"}, {"timing", {{"bound", "FP32"}}}}));
  EXPECT_EQ(o.timing->bound, Bound::mufu);
  o.timing.reset();
  apply_part(o, part_of({{"bound", "FP32"}}));
  EXPECT_FALSE(o.timing);
}

TEST(Part, HasWhatCame) {
  const Part part = part_of({{"timing", nullptr}, {"tflops", 0.5}});
  EXPECT_TRUE(has(part, &Observation::timing)) << "cleared";
  EXPECT_TRUE(has(part, &Observation::tflops));
  EXPECT_FALSE(has(part, &Observation::verdict));
}

TEST(Part, FaultsAreNamedByTheirPointer) {
  const std::pair<Json, const char*> cases[] = {
      {Json::array(), "part: must be an object"},
      {{{"tflops", 2.0}, {"surprise", 1}}, "part/surprise"},
      {{{"tflops", "fast"}}, "part/tflops"},
      {{{"bound", 3}}, "part/bound"},
      {{{"device", std::string(201, 'x')}}, "part/device"},
      {{{"versions", {{"app", 1}}}}, "part/versions/app"},
      {{{"variant", {{"registers", -1}}}}, "part/variant/registers"},
      {{{"occupancy", {{"limiter", "luck"}}}}, "part/occupancy/limiter"},
      {{{"verdict", {{"first_bad", {{"row", "x"}}}}}}, "part/verdict/first_bad/row"},
      {{{"timing", {{"us", {{"p50", "slow"}}}}}}, "part/timing/us/p50"},
      {{{"counters", {{"instructions", {{"total", 0.5}}}}}}, "part/counters/instructions/total"},
      {{{"findings", {{{"rule", "r"}}, {{"severity", "eror"}}}}}, "part/findings/1/severity"},
      {{{"watch", {{"findings", {{{"evidence", 1}}}}}}}, "part/watch/findings/0/evidence"},
      {{{"printed", {{"lines", {"a", 2}}}}}, "part/printed/lines/1"},
      {{{"failure", {{"message", "m"}}}}, "part/failure/stage"},
  };
  for (const auto& [json, pointer] : cases) {
    const auto values = part_values_from_json(json);
    ASSERT_FALSE(values) << json.dump();
    EXPECT_EQ(values.error().stage, Stage::protocol);
    EXPECT_TRUE(values.error().message.starts_with(pointer)) << values.error().message;
  }
}

TEST(Part, ATimeThatIsNoneIsRefusedAtTheDoor) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto taken = [](const char* key, const Json& value) {
    Json timing{{"kind", "measured"}, {"us", {{"p10", 1}, {"p50", 2}, {"p90", 3}}}, {"interval", {1, 3}}};
    timing[Json::json_pointer(key)] = value;
    return part_values_from_json(Json{{"timing", timing}}).has_value();
  };
  EXPECT_TRUE(taken("/us/p50", 2.5));
  for (const char* key : {"/us/p10", "/us/p50", "/us/p90", "/interval/0", "/clock_mhz"})
    for (const Json& value : {Json(none), Json("inf"), Json(-1), Json(1e300)}) EXPECT_FALSE(taken(key, value)) << key;
  EXPECT_FALSE(taken("/sampling", Json{{"rounds", {{1, none}}}}));
  EXPECT_FALSE(part_values_from_json(Json{{"tflops", none}}));
}

}  // namespace
}  // namespace attnscope::protocol
