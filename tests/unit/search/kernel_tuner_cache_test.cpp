// The cache file of Kernel Tuner, in and out.
#include "search/kernel_tuner_cache.h"

#include <gmock/gmock.h>

#include "core/escape.h"
#include "core/json.h"
#include "search/recorded_file.h"

namespace attnscope::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two configs with a time, as version 1.5.0 writes them, one without for each reason, and one of an older version.
constexpr const char* kWritten = R"({
"device_name": "NVIDIA A100",
"kernel_name": "convolution",
"problem_size": [4096, 4096],
"tune_params_keys": ["block", "path"],
"tune_params": {"block": [128, 64], "path": ["b", "a"]},
"objective": "time",
"cache": {
"64,b": {"block": 64, "path": "b", "time": 3.0, "times": [2.0, 4.0], "compile_time": 500, "verification_time": 3, "benchmark_time": 10, "strategy_time": 7, "framework_time": 1, "timestamp": "2026-01-01", "GFLOP/s": 9.5},
"128,a": {"block": 128, "path": "a", "time": "InvalidConfig", "compile_time": 0, "verification_time": 0, "benchmark_time": 0},
"128,b": {"block": 128, "path": "b", "__error__": "CompilationFailedConfig", "compile_time": 400},
"64,a": {"block": 64, "path": "a", "time": 1e+20},
"9,a": {"block": 9, "path": "a", "time": 2.5, "times": [2.0, 3.0], "modelled_time": 2.25, "modelling_time": 0.5})";

TEST(KernelTunerCache, ReadsWhatKernelTunerWrote) {
  for (const char* end : {"}\n}", "}}", "", ",", ",\n", "\n"}) {
    const auto space = recorded_from_text(std::string(kWritten) + end, "cache.json");
    ASSERT_TRUE(space) << end << space.error().message;
    EXPECT_THAT(space->knobs, ElementsAre("block", "path"));
    ASSERT_EQ(space->runs.size(), 5) << end;
    EXPECT_THAT(space->grid.at(0), ElementsAre(1, 1)) << "values in order: 9, 64, 128; a, b";
    EXPECT_THAT(space->grid.at(4), ElementsAre(0, 0)) << "in the order of the file";
    EXPECT_EQ(space->runs[0].ms, 3.0);
    EXPECT_NEAR(space->runs[0].seconds, 0.514, 1e-9) << "not the strategy's own time";
    for (const size_t invalid : {1, 2, 3}) EXPECT_FALSE(space->runs[invalid].ms) << invalid;
    EXPECT_NEAR(space->runs[2].seconds, 0.4, 1e-9);
    EXPECT_EQ(space->runs[4].ms, 2.5);
    EXPECT_NEAR(space->runs[4].seconds, 0.005, 1e-9) << "the samples, if nothing says how long measuring took";
    EXPECT_EQ(space->runs[4].modelled_ms, 2.25);
    EXPECT_EQ(space->runs[4].modelling_seconds, 0.5);
  }
}

TEST(KernelTunerCache, NamesWhatIsWrong) {
  const auto why = [](const std::string& text) {
    const auto space = recorded_from_text(text, "c.json");
    return space ? "taken" : space.error().message;
  };
  const auto entry = [&](const std::string& fields, const std::string& more = "") {
    return why(R"({"tune_params_keys": ["a"], "cache": {"x/y": {)" + fields + "}" + more + "}}");
  };
  EXPECT_EQ(entry(R"("a": 1, "time": 2)"), "taken");
  EXPECT_EQ(entry(R"("a": 1, "time": 2)", R"(, "2": {"a": 2, "time": 2})"), "taken");
  EXPECT_THAT(why("{}"), HasSubstr("c.json/results: must be"));
  EXPECT_THAT(why("{"), HasSubstr("is not JSON"));
  EXPECT_THAT(why("{\"a\": 1"), HasSubstr("is not JSON")) << "closing it makes no cache of it";
  EXPECT_THAT(why(R"({"cache": {}})"), HasSubstr("c.json/tune_params_keys: must be"));
  EXPECT_THAT(why(R"({"tune_params_keys": [3], "cache": {}})"), HasSubstr("c.json/tune_params_keys/0: must be"));
  for (const std::string none : {"{}", "[]", "3", "null"})
    EXPECT_THAT(why(R"({"tune_params_keys": ["a"], "cache": )" + none + "}"), HasSubstr("c.json/cache: must be"))
        << none;
  EXPECT_THAT(why(R"({"tune_params_keys": ["a"], "cache": {"1": 3}})"), HasSubstr("c.json/cache/1: must be"));
  EXPECT_THAT(entry(R"("time": 2)"), HasSubstr("c.json/cache/x~1y/a: is missing"));
  EXPECT_THAT(entry(R"("a": [], "time": 2)"), HasSubstr("c.json/cache/x~1y/a: must be"));
  EXPECT_THAT(entry(R"("a": 1)"), HasSubstr("c.json/cache/x~1y/time: is missing"));
  EXPECT_THAT(entry(R"("a": 1, "time": "Odd")"), HasSubstr("c.json/cache/x~1y/time: \"Odd\" is not one of"));
  for (const std::string bad : {"0", "-1", "null", "[1]", "true"})
    EXPECT_THAT(entry(R"("a": 1, "time": )" + bad), HasSubstr("/time: must be")) << bad;
  for (const std::string key :
       {"compile_time", "verification_time", "benchmark_time", "framework_time", "modelled_time"})
    for (const std::string bad : {"-1", "\"x\""})
      EXPECT_THAT(entry(R"("a": 1, "time": 2, ")" + key + "\": " + bad), HasSubstr("x~1y/" + key + ": must be")) << bad;
  for (const std::string bad : {"1", "[\"x\"]"})
    EXPECT_THAT(entry(R"("a": 1, "time": 2, "times": )" + bad), HasSubstr("x~1y/times: must be")) << bad;
  EXPECT_THAT(entry(R"("a": 1, "time": 2)", R"(, "2": {"a": 1, "time": 3})"), HasSubstr("its config is there twice"));
}

// Another objective may be one to maximise, and its seconds would be no time.
TEST(KernelTunerCache, OnlyTimesAreScored) {
  const auto read = [](const std::string& objective) {
    return recorded_from_text(R"({"tune_params_keys": ["a"], "objective": )" + objective +
                                  R"(, "cache": {"1": {"a": 1, "time": 2, "GFLOP/s": 7}}})",
                              "c");
  };
  for (const char* objective : {"\"time\"", "[\"time\"]", "[]", "null"}) {
    const auto space = read(objective);
    ASSERT_TRUE(space) << objective;
    EXPECT_EQ(space->runs[0].ms, 2);
  }
  const auto other = read("[\"GFLOP/s\", \"time\"]");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("c/objective: is GFLOP/s"));
}

std::vector<T4Result> results() {
  const auto config = [](int64_t rows, const char* barriers, bool fast) {
    return std::vector<std::pair<std::string, Json>>{{"ROWS", rows}, {"BARRIERS", barriers}, {"fast_math", fast}};
  };
  std::vector<T4Result> results(5);
  results[0] = {config(16, "cta", true), Invalidity::correct, 0.0842, {0.08, 0.09}, 250, 0.07};
  results[1] = {config(64, "cta", true), Invalidity::constraints, std::nullopt, {}, 0, {}};
  results[2] = {config(16, "a,\"b", false), Invalidity::compile, std::nullopt, {}, 20, {}};
  results[3] = {config(32, "cta", true), Invalidity::timeout, std::nullopt, {}, 20, {}};
  results[4] = {config(8, "cta", true), Invalidity::correctness, std::nullopt, {}, 20, {}};
  return results;
}

TEST(KernelTunerCache, IsWhatTheDashboardAndKernelTunerRead) {
  const CacheHead head{"rows",
                       "NVIDIA L4",
                       {64, 8, 1},
                       {{"ROWS", {16, 64, 32, 8}}, {"BARRIERS", {"cta", "a,\"b"}}, {"fast_math", {true, false}}}};
  const std::string text = cache_text(head, results());
  const Json json = *parse_json(text, "c.json");
  const auto keys = [&](const char* member) {
    std::vector<std::string> all;
    EXPECT_TRUE(parse_json(text, "c.json", member, all));
    return all;
  };
  for (const char* key :
       {"device_name", "kernel_name", "problem_size", "tune_params_keys", "tune_params", "objective", "cache"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["tune_params_keys"], Json({"ROWS", "BARRIERS", "fast_math"}));
  EXPECT_THAT(keys("tune_params"), ElementsAre("ROWS", "BARRIERS", "fast_math")) << "as in the entries' keys";
  EXPECT_THAT(keys("cache"), ElementsAre("16,cta,True", "64,cta,True", "16,a,\"b,False", "32,cta,True", "8,cta,True"));
  EXPECT_EQ(json["tune_params"]["fast_math"], Json({true, false}));
  EXPECT_EQ(text.substr(text.size() - 4), "}\n}\n") << "by which they know a closed file";
  const Json& first = json["cache"]["16,cta,True"];
  for (const char* key :
       {"compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time", "time"})
    EXPECT_TRUE(first[key].is_number()) << key;
  EXPECT_EQ(first["ROWS"], 16);
  EXPECT_EQ(first["times"], Json({0.08, 0.09}));
  EXPECT_EQ(json["cache"]["64,cta,True"]["time"], "InvalidConfig");
  EXPECT_EQ(json["cache"]["16,a,\"b,False"]["time"], "CompilationFailedConfig");
  EXPECT_EQ(json["cache"]["32,cta,True"]["time"], "RuntimeFailedConfig");
  EXPECT_EQ(json["cache"]["8,cta,True"]["time"], "RuntimeFailedConfig");
}

TEST(KernelTunerCache, TextFromOutsideStaysText) {
  for (const std::string text : {"x\", \"cache\": {\"", "a\nb", "}\n}", "\\", "</script>", "\xff\xfe", "\x1b[2J"}) {
    std::vector<T4Result> results(2);
    results[0] = {{{text, text}}, Invalidity::correct, 0.5, {}, 0, {}};
    results[1] = {{{text, "other"}}, Invalidity::compile, std::nullopt, {}, 0, {}};
    const std::string file = cache_text({text, text, {1}, {{text, {text, "other"}}}}, results);
    const auto json = parse_json(file, "c.json");
    ASSERT_TRUE(json) << file;
    EXPECT_EQ((*json)["cache"].size(), 2) << file;
    const auto space = recorded_from_text(file, "c.json");
    ASSERT_TRUE(space) << file << space.error().message;
    EXPECT_EQ(space->knobs.size(), 1);
    EXPECT_EQ(space->runs[0].ms, 0.5);
  }
}

TEST(KernelTunerCache, HoldsWhatT4Holds) {
  const auto cache = recorded_from_text(
      cache_text({"rows",
                  "L4",
                  {64},
                  {{"ROWS", {16, 64, 32, 8}}, {"BARRIERS", {"cta", "a,\"b"}}, {"fast_math", {true, false}}}},
                 results()),
      "c");
  const auto t4 = recorded_from_text(json_text(t4_of(results())), "t");
  ASSERT_TRUE(cache && t4);
  EXPECT_EQ(cache->knobs, t4->knobs);
  ASSERT_EQ(cache->runs.size(), t4->runs.size());
  for (size_t at = 0; at < t4->runs.size(); ++at) {
    EXPECT_EQ(cache->grid.at(at), t4->grid.at(at)) << at;
    EXPECT_EQ(cache->runs[at].ms, t4->runs[at].ms) << at;
    EXPECT_EQ(cache->runs[at].modelled_ms, t4->runs[at].modelled_ms) << at;
    EXPECT_DOUBLE_EQ(cache->runs[at].seconds, t4->runs[at].seconds) << at;
  }
}

}  // namespace
}  // namespace attnscope::search
