#include "core/json.h"

#include <gtest/gtest.h>

#include "core/device_spec.h"
#include "core/experiment_fields.h"

namespace attnscope {
namespace {

std::string refusal(const Result<void>& done) { return done ? "" : done.error().message; }

TEST(JsonReader, ANumberIsHeldToItsRange) {
  const Json json{{"whole", 5}, {"real", 2.5}, {"huge", 18446744073709551615u}, {"negative", -1}, {"text", "5"}};
  for (const auto& [low, high, taken] : {std::tuple{5, 5, true}, {0, 4, false}, {6, 9, false}, {-5, 5, true}}) {
    int64_t whole = 7;
    JsonReader read(json, "x");
    read.integer("whole", whole, low, high);
    EXPECT_EQ(read.finish(false).has_value(), taken) << low << "…" << high;
    EXPECT_EQ(whole, taken ? 5 : 7);
  }
  for (const auto& [low, high, taken] : {std::tuple{2.5, 2.5, true}, {0.0, 2.4, false}, {2.6, 9.0, false}}) {
    double real = 7;
    JsonReader read(json, "x");
    read.number("real", real, low, high);
    EXPECT_EQ(read.finish(false).has_value(), taken) << low << "…" << high;
  }
  for (const char* key : {"real", "huge", "text"}) {
    int64_t whole = 7;
    JsonReader read(json, "x");
    read.integer(key, whole);
    EXPECT_NE(refusal(read.finish(false)).find(std::string("x/") + key), std::string::npos) << key;
    EXPECT_EQ(whole, 7);
  }
  for (const auto& [key, taken] : {std::pair{"huge", true}, {"whole", true}, {"negative", false}, {"real", false}}) {
    uint64_t whole = 7;
    JsonReader read(json, "x");
    read.unsigned_integer(key, whole);
    EXPECT_EQ(read.finish(false).has_value(), taken) << key;
  }
}

TEST(JsonReader, ATextIsHeldToItsLengthAndALineToOne) {
  const Json json{{"five", "12345"}, {"lines", "1\n2"}};
  std::string text = "before";
  JsonReader long_enough(json, "x");
  long_enough.text("five", text, 5);
  EXPECT_TRUE(long_enough.finish(false));
  EXPECT_EQ(text, "12345");
  JsonReader too_short(json, "x");
  too_short.text("five", text, 4);
  EXPECT_FALSE(too_short.finish(false));
  JsonReader line(json, "x");
  line.line("lines", text, 100);
  EXPECT_FALSE(line.finish(false));
  EXPECT_EQ(text, "12345");
  JsonReader one(json, "x");
  one.line("five", text, 100);
  EXPECT_TRUE(one.finish(false));
}

TEST(JsonReader, WhatIsAbsentIsLeftAndWhatIsUnknownRefused) {
  const Json nothing{{"a", nullptr}}, unknown{{"c", 1}};
  int64_t number = 7;
  JsonReader read(nothing, "x");
  read.integer("a", number);
  read.integer("b", number);
  EXPECT_TRUE(read.finish());
  EXPECT_EQ(number, 7);
  JsonReader wanting(nothing, "x");
  wanting.required("a");
  EXPECT_EQ(refusal(wanting.finish()), "x/a: is missing");
  EXPECT_EQ(refusal(JsonReader(unknown, "x").finish()), "x/c: is not a known key");
  EXPECT_TRUE(JsonReader(unknown, "x").finish(false));
  JsonReader ignoring(unknown, "x");
  ignoring.ignore("c");
  EXPECT_TRUE(ignoring.finish());
  const Json list = Json::array();
  EXPECT_FALSE(JsonReader(list, "x").finish());
  static_assert(!std::is_constructible_v<JsonReader, Json, const char*>, "the reader keeps no copy");
}

TEST(JsonReader, TheFirstFaultIsTold) {
  const Json json{{"a", "x"}, {"b", "x"}};
  JsonReader read(json, "x");
  bool flag = true;
  read.boolean("b", flag);
  read.boolean("a", flag);
  EXPECT_EQ(refusal(read.finish()), "x/b: must be true or false");
}

TEST(Json, NumbersThatJsonLacksGoThroughText) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double value : {inf, -inf, 0.5}) {
    double back = 0;
    const Json json{{"x", number_json(value)}};
    JsonReader read(json, "where");
    read.number("x", back);
    EXPECT_TRUE(read.finish());
    EXPECT_EQ(back, value);
  }
  EXPECT_EQ(number_json(std::nan("")), "nan");
}

TEST(Json, AMessageSaysTheLineAndTheKey) {
  const auto broken = parse_json("{\n \"a\": nope}", "x.json");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message.find("x.json: line 2, column 8 is not JSON: invalid literal"), 0u)
      << broken.error().message;
  std::string deep;
  for (const int levels : {64, 65}) {
    deep.assign(static_cast<size_t>(levels), '[');
    deep += "1" + std::string(static_cast<size_t>(levels), ']');
    EXPECT_EQ(parse_json(deep, "x").has_value(), levels == 64) << levels;
  }
  EXPECT_TRUE(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})", "x")) << "the same key in another object";
}

TEST(Json, KeysOfAMemberAreInTheOrderOfTheText) {
  std::vector<std::string> keys{"of another text"};
  const auto json = parse_json(R"({"c": {"z": {"b": 1}, "a": [{"y": 1}]}, "d": {"k": 1}, "e": 2})", "x", "c", keys);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->at("c").at("z").at("b"), 1);
  EXPECT_EQ(keys, (std::vector<std::string>{"z", "a"}));
  for (const char* text : {R"({"a": {"b": 1}})", R"({"c": 1, "d": {"b": 1}})", R"([{"c": {"b": 1}}])", "3"}) {
    EXPECT_TRUE(parse_json(text, "x", "c", keys)) << text;
    EXPECT_TRUE(keys.empty()) << text;
  }
}

TEST(JsonReader, ListsAndObjectsNameThePlaceOfAFault) {
  const auto number = [](const Json& json, const std::string& where) -> Result<int64_t> {
    if (json.is_number_integer()) return json.get<int64_t>();
    return fail(Stage::input, where + ": must be a number");
  };
  const Json good{{"list", {1, 2}}, {"names", {{"a", 3}}}, {"one", 4}};
  std::vector<int64_t> list;
  std::map<std::string, int64_t> names;
  int64_t one = 0;
  JsonReader read(good, "x");
  fields::read(read, "list", list, Limits{.most = 2});
  read.entries("names", [&](JsonReader& inner, const char* name) { inner.integer(name, names[name]); });
  read.part("one", one, number);
  EXPECT_EQ(refusal(read.finish()), "");
  EXPECT_EQ(list, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(names, (std::map<std::string, int64_t>{{"a", 3}}));
  EXPECT_EQ(one, 4);

  const auto refused = [&](const Json& json) {
    JsonReader bad(json, "x");
    fields::read(bad, "list", list, Limits{.most = 2});
    bad.entries("names", [&](JsonReader& inner, const char* name) { inner.integer(name, names[name]); });
    bad.part("one", one, number);
    return refusal(bad.finish());
  };
  EXPECT_EQ(refused({{"list", {1, "two"}}}), "x/list/1: must be a number within its limits");
  EXPECT_EQ(refused({{"list", {1, 2, 3}}}), "x/list: holds 3 entries; at most 2 are taken");
  EXPECT_EQ(refused({{"list", 1}}), "x/list: must be a list");
  EXPECT_NE(refused({{"list", {1, 2.5}}}), "") << "no whole number";
  EXPECT_EQ(refused({{"names", {{"a", "b"}}}}), "x/names/a: must be a whole number, not \"b\"");
  EXPECT_EQ(refused({{"names", 5}}), "x/names: must be an object");
  EXPECT_EQ(refused({{"one", "b"}}), "x/one: must be a number");
}

TEST(JsonReader, AWholeNumbersHintIsTheEndThatItPassed) {
  const Json json{{"low", 0}, {"high", 9}};
  int64_t value = 5;
  JsonReader low(json, "x"), high(json, "x");
  low.integer("low", value, 1, 8);
  EXPECT_EQ(low.finish(false).error(), (Failure{Stage::input, "x/low: 0 is outside 1…8", "Set low to 1 or more."}));
  high.integer("high", value, 1, 8);
  EXPECT_EQ(high.finish(false).error(), (Failure{Stage::input, "x/high: 9 is outside 1…8", "Set high to 8 or less."}));
}

TEST(MeasurePolicy, IsHeldToWhatCanBeMeasured) {
  for (const auto& [key, value, taken] : {std::tuple{"cache", Json("cold"), true},
                                          {"cache", Json("warm"), false},
                                          {"sampled_share", Json(1), true},
                                          {"sampled_share", Json(0.01), true},
                                          {"sampled_share", Json(0), false},
                                          {"sampled_share", Json(1.01), false},
                                          {"max_time_ms", Json(1), true},
                                          {"max_time_ms", Json(0), false},
                                          {"max_time_ms", Json(3600000), true},
                                          {"max_time_ms", Json(3600001), false}}) {
    const auto policy = read_fields<MeasurePolicy>(Json{{key, value}}, "x");
    EXPECT_EQ(policy.has_value(), taken) << key << " " << value;
    if (taken) continue;
    EXPECT_NE(policy.error().message.find(std::string("x/") + key), std::string::npos);
  }
}

TEST(DeviceSpec, GoesThroughJsonUnchanged) {
  DeviceSpec spec;
  spec.id = "emulated:l4";
  spec.name = "an L4";
  spec.arch = 89;
  spec.emulated = true;
  spec.sms = 58;
  spec.runs = {Library::named("kernels"), LibraryId::torch};
  spec.shared_optin_block = 101376;
  spec.shared_sm = 102400;
  spec.warps_sm = 48;
  spec.ctas_sm = 24;
  spec.registers_sm = spec.registers_block = 65536;
  spec.threads_block = 1024;
  spec.clock_mhz = 2040;
  spec.sustained_clock_mhz = 1800.5;
  spec.dram_gbs = 300;
  spec.rates = {{"fp32", 128}};
  spec.sources = {{"fp32", "the guide"}};
  const auto back = device_spec_from_json(to_json(spec), "x");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(spec));
  for (const auto& [key, value] : {std::pair{"sms", Json(0)},
                                   {"arch", Json(49)},
                                   {"warps_sm", Json(0)},
                                   {"runs", Json("kernels")},
                                   {"runs", Json::array({1})},
                                   {"rates", Json(1)},
                                   {"runs", Json::array({std::string(101, 'x')})},
                                   {"sources", Json{{"a", 1}}}}) {
    Json json = to_json(spec);
    json[key] = value;
    const auto read = device_spec_from_json(json, "x");
    ASSERT_FALSE(read) << key;
    EXPECT_NE(read.error().message.find(std::string("x/") + key), std::string::npos) << read.error().message;
  }
  Json least = to_json(spec);
  least["runs"] = Json::array();
  for (int i = 0; i < 100; ++i) least["runs"].push_back(std::string(100, 'x'));
  EXPECT_TRUE(device_spec_from_json(least, "x"));
  least["runs"].push_back("one more");
  EXPECT_FALSE(device_spec_from_json(least, "x"));
}

}  // namespace
}  // namespace attnscope
