#include "core/observation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "core/view.h"

namespace attnscope {
namespace {

Observation full_observation() {
  Observation o;
  o.experiment.kernel = "tiled";
  o.experiment.kernel_hash = "abc";
  o.experiment.config.knobs = {{"BLOCK_M", 32}, {"NUM_WARPS", 8}};
  o.hash = hash_of(o.experiment);
  o.versions = {"0.1.0", "12.8", "", "", "13.1.0"};
  o.device = "emulated:l4";
  o.variant = VariantInfo{89, 64, 0, 0, 36928, 0, {{"Q_tile", 4096, false}}, "c0de", "NVRTC 12.8", true, 180.5, ""};
  o.occupancy = Occupancy{2, 16, 1.0 / 3, Limiter::shared_memory, 128.0 / 116, 128, 116, 12};
  Verdict v;
  v.state = VerdictState::wrong;
  v.max_abs = 0.5;
  v.first_bad = BadElement{0, 1, 2, 3, 0.25, std::nan("")};
  o.verdict = v;
  o.timing =
      Timing{FigureKind::modelled,
             800,
             839.4,
             880,
             700,
             900,
             0,
             CacheState::hot,
             2040,
             Bound::shared_memory,
             Sampling{{{838.5, 839}, {839.4}}, Stopped::stable, 2, 1.5, 71.9, 72, 66, {"power cap"}},
             Terms{{{TermKind::bank_conflicts, 839.4, {{0x1a0, "02_tiled.cu:174", 800, 0x1c0, "02_tiled.cu:175"}}}},
                   {{"score", 839.4, {{TermKind::bank_conflicts, 839.4}}}},
                   ""}};
  o.tflops = 0.64;
  Counters c;
  c.instructions = {{"total", 1000}, {"fp32", 400}};
  o.counters = c;
  Finding f;
  f.rule = Rule::named("same-code");
  f.severity = Severity::info;
  f.evidence = {{"hash", 1, "", FigureKind::counted}};
  f.where = {{"line", "12"}};
  f.gain = Gain{120.5, -3.0};
  f.next = Next{{{"VEC_WIDTH", 4}}};
  o.findings = {f};
  o.printed = Printed{{"thread 3 of 50"}, 2};
  HardwareCounters& hardware = o.hardware.emplace();
  hardware.cupti = "13.0.85";
  hardware.passes = 8;
  hardware.dram_busy = 12.5;
  hardware.warp_instructions = 1000;
  hardware.failure = Failure{Stage::device, "m", "h"};
  o.fragment_cycles = FragmentCycles{FigureKind::modelled, 1, 400, 410.5, 420};
  o.failure = Failure{Stage::deadline, "m", "h", FailureKind::deadlock, Overrun{"q", 4096, 12}, "table"};
  return o;
}

TEST(Observation, GoesThroughJsonUnchanged) {
  Observation o = full_observation();
  o.verdict->first_bad->got = 1;  // NaN is never equal to itself: held in the next test
  auto back = observation_from_json(to_json(o), "o.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, o);
}

TEST(Observation, AFailureSaysItsKindOnlyIfItHasOne) {
  const Json json = to_json(full_observation());
  EXPECT_EQ(json["failure"]["kind"], "deadlock");
  EXPECT_FALSE(json["hardware"]["failure"].contains("kind"));
  EXPECT_FALSE(json["hardware"]["failure"].contains("overrun"));
  EXPECT_FALSE(json["hardware"]["failure"].contains("absent_variable"));
}

TEST(Observation, KeepsNaNThroughText) {
  const std::string text = to_json(full_observation()).dump();
  auto json = parse_json(text, "o.json");
  ASSERT_TRUE(json);
  auto back = observation_from_json(*json, "o.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(std::isnan(back->verdict->first_bad->got));
}

TEST(Observation, ATimeWrittenBeforeThereWereTermsIsRead) {
  Observation o = full_observation();
  Json json = to_json(o);
  json["timing"].erase("terms");
  const auto back = observation_from_json(json, "o.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_FALSE(back->timing->terms);
  json = to_json(o);
  json["timing"]["terms"]["list"][0]["kind"] = "magic";
  EXPECT_FALSE(observation_from_json(json, "o.json"));
}

TEST(Observation, AFindingWrittenBeforeThereWasAGainIsRead) {
  Json json = to_json(full_observation());
  Json& finding = json["findings"][0];
  finding.erase("gain");
  finding["est_gain_us"] = 12.5;
  finding["next"] = {{"set", Json::object()}};
  const auto estimated = observation_from_json(json, "o.json");
  ASSERT_TRUE(estimated) << estimated.error().message;
  EXPECT_EQ(estimated->findings[0].gain, (Gain{12.5, std::nullopt}));
  EXPECT_FALSE(estimated->findings[0].next);
  finding["est_gain_us"] = nullptr;
  finding["next"]["set"]["VEC_WIDTH"] = 4;
  const auto unknown = observation_from_json(json, "o.json");
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_FALSE(unknown->findings[0].gain);
  EXPECT_EQ(unknown->findings[0].next->set.at("VEC_WIDTH"), 4);
  finding["est_gain_us"] = "much";
  EXPECT_FALSE(observation_from_json(json, "o.json"));
}

// The group follows from the rule, whatever a file says or leaves out.
TEST(Observation, AFindingsGroupIsItsRules) {
  Observation o = full_observation();
  o.findings[0].rule = RuleId::bank_conflicts;
  Json json = to_json(o);
  EXPECT_EQ(json["findings"][0]["group"], "memory");
  for (const bool written : {true, false}) {
    json["findings"][0].erase("group");
    if (written) json["findings"][0]["group"] = "arithmetic";
    const auto read = observation_from_json(json, "o.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->findings[0].rule.group(), FindingGroup::memory);
  }
}

// An unknown word would be taken for the harmless value: "rihgt" for unchecked, "eror" for a note.
TEST(Observation, WordsOfAVerdictAndAFindingAreKnownOnes) {
  const Json good = to_json(full_observation());
  ASSERT_TRUE(observation_from_json(good, "o.json"));
  for (const auto& [pointer, word] :
       {std::pair{"/verdict/state", "rihgt"}, std::pair{"/occupancy/limiter", "shraed memory"},
        std::pair{"/timing/bound", "shraed memory"}, std::pair{"/findings/0/severity", "eror"}}) {
    Json unknown = good;
    unknown[Json::json_pointer(pointer)] = word;
    const auto read = observation_from_json(unknown, "o.json");
    ASSERT_FALSE(read) << pointer;
    EXPECT_TRUE(read.error().message.starts_with("o.json" + std::string(pointer))) << read.error().message;
  }
}

TEST(Experiment, HashFollowsEveryField) {
  const Experiment base = full_observation().experiment;
  Experiment other = base;
  other.config.knobs["NUM_WARPS"] = 4;
  EXPECT_NE(hash_of(base), hash_of(other));
  other = base;
  other.problem.seed = 1;
  EXPECT_NE(hash_of(base), hash_of(other));
  other = base;
  other.config.options.fast_math = false;
  EXPECT_NE(hash_of(base), hash_of(other));
  other = base;
  other.config.options.compiler = CompilerChoice::nvcc;
  EXPECT_NE(hash_of(base), hash_of(other));
  EXPECT_EQ(hash_of(base), hash_of(full_observation().experiment));
}

TEST(Tile, RefusesAnArrayOfTheWrongSize) {
  Tile t;
  t.width = 3;
  t.height = 2;
  t.values = {0, 1, 2, 3, 4, 5};
  t.ready_rows = {1, 0};
  auto back = tile_from_json(to_json(t), "tile");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, t);
  Json broken = to_json(t);
  broken["width"] = 4;
  EXPECT_FALSE(tile_from_json(broken, "tile"));
}

TEST(Json, RefusesDuplicatesDepthAndGarbage) {
  EXPECT_FALSE(parse_json(R"({"a":1,"a":2})", "f"));
  EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']'), "f"));
  EXPECT_FALSE(parse_json("\x80\x01garbage", "f"));
  EXPECT_TRUE(parse_json(R"({"a":{"a":1},"b":[{"a":1},{"a":2}]})", "f"));
}

}  // namespace
}  // namespace attnscope
