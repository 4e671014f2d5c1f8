// The largest and smallest values that a report, a tuned table, a validation or a config from outside may hold, and one
// beyond each.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "report/bench_report.h"
#include "report/rbk_config.h"
#include "report/tuned.h"
#include "report/validation.h"

namespace attnscope::report {
namespace {

// Why the file is refused; empty: it is taken.
using Read = std::function<std::string(const Json&)>;

struct Limit {
  const char* pointer;
  Json kept, beyond;
};

Json text(size_t count) { return std::string(count, 'x'); }
std::vector<Json> list(size_t count, const Json& of) { return std::vector<Json>(count, of); }

void expect_limits(const Json& good, const Read& read, const std::vector<Limit>& limits) {
  ASSERT_EQ(read(good), "");
  for (const auto& [pointer, kept, beyond] : limits) {
    Json json = good;
    json[Json::json_pointer(pointer)] = kept;
    EXPECT_EQ(read(json), "") << pointer;
    json[Json::json_pointer(pointer)] = beyond;
    EXPECT_NE(read(json).find(pointer), std::string::npos) << pointer << ": " << read(json);
  }
}

TEST(Limits, OfAReport) {
  BenchReport report;
  report.device = "cuda:0";
  report.entries = {{"ours", "ours", "h", false, "cuda:0", ""}, {"peer", "torch", "", true, "cuda:0", "2.9"}};
  Row& row = report.rows.emplace_back();
  row.cells.resize(2);
  row.cells[0].state = CellState::timed;
  row.cells[0].p10 = row.cells[0].p50 = row.cells[0].p90 = 1;
  row.cells[0].ratios = {{1, 2, std::nullopt}};
  row.cells[0].error = CellError{};
  const Json ratio{{"peer", 1}, {"ratio", 2}};
  const auto read = [](const Json& json) {
    const auto taken = report_from_json(json, "r");
    return taken ? "" : taken.error().message;
  };
  expect_limits(to_json(report), read,
                {{"/attnscope_bench", 1, 0},
                 {"/attnscope_bench", 1, 2},
                 {"/date", text(100), text(101)},
                 {"/device/id", text(200), text(201)},
                 {"/device/name", text(200), text(201)},
                 {"/device/arch", 0, -1},
                 {"/device/arch", 200, 201},
                 {"/blocks", 0, -1},
                 {"/entries/0/label", text(2000), text(2001)},
                 {"/entries/0/kernel", text(200), text(201)},
                 {"/entries/0/hash", text(64), text(65)},
                 {"/entries/0/device", text(200), text(201)},
                 {"/entries/0/version", text(2000), text(2001)},
                 {"/rows/0/cells/0/error/outside_share", 0, -0.1},
                 {"/rows/0/cells/0/error/outside_share", 1, 1.1},
                 {"/rows/0/cells/0/us/p50", 1e-9, 0},
                 {"/rows/0/cells/0/samples", 0, -1},
                 {"/rows/0/cells/0/ratios", list(10000, ratio), list(10001, ratio)}});
  for (const std::string key : {"rows", "entries"}) {  // too many are refused before the first is read
    Json many = to_json(report);
    many[key] = list(10000, 1);
    EXPECT_NE(read(many).find("/" + key + "/0"), std::string::npos) << read(many);
    many[key].push_back(1);
    EXPECT_EQ(read(many).find("/" + key + "/0"), std::string::npos) << read(many);
  }
  Json none = to_json(report);
  none["rows"][0]["cells"][0]["ratios"][0]["peer"] = 2;
  EXPECT_NE(read(none).find("there is no entry 2"), std::string::npos);
  for (const char* key : {"device", "versions", "entries", "rows", "attnscope_bench"}) {
    Json lacks = to_json(report);
    lacks.erase(key);
    EXPECT_NE(read(lacks).find(key), std::string::npos) << key;
  }
}

TEST(Limits, OfATunedTable) {
  TunedTable table{"NVIDIA L4", 89, {{}}};
  table.entries[0].kernel = "mma";
  table.entries[0].us = 1;
  table.entries[0].verdict = VerdictState::correct;
  const auto read = [](const Json& json) {
    const auto taken = tuned_from_json(json, "t");
    return taken ? "" : taken.error().message;
  };
  expect_limits(to_json(table), read,
                {{"/attnscope_tuned", 1, 0},
                 {"/attnscope_tuned", 1, 2},
                 {"/device", text(200), text(201)},
                 {"/arch", 50, 49},
                 {"/arch", 200, 201},
                 {"/entries/0/kernel/id", text(200), text(201)},
                 {"/entries/0/kernel/hash", text(64), text(65)},
                 {"/entries/0/us", 1e-9, 0},
                 {"/entries/0/kind", "measured", "reported"},
                 {"/entries/0/kind", "modelled", "counted"},
                 {"/entries/0/verdict", "correct", "unchecked"},
                 {"/entries/0/date", text(100), text(101)}});
  // Too many are refused before the first is read.
  Json many = to_json(table);
  many["entries"] = list(10000, 1);
  EXPECT_NE(read(many).find("/entries/0"), std::string::npos) << read(many);
  many["entries"].push_back(1);
  EXPECT_EQ(read(many).find("/entries/0"), std::string::npos) << read(many);
}

TEST(Limits, OfAValidation) {
  ValidationSet set;
  set.device = "NVIDIA L4";
  set.rows = {{"B=1", "mma", "STAGES=2", "", 1, 1, 0, 0, Bound::unknown, {}}};
  set.refused = {{"B=1", "mma", "STAGES=1", "does not fit"}};
  const Json good = to_json(Validation{{set}});
  const Json empty{{"device", "d"}, {"arch", 0}, {"rows", Json::array()}};
  const auto read = [](const Json& json) {
    const auto taken = validation_from_json(json, "v");
    return taken ? "" : taken.error().message;
  };
  std::vector<Limit> limits{{"/attnscope_validation", 1, 0},
                            {"/attnscope_validation", 1, 2},
                            {"/sets", list(1000, empty), list(1001, empty)},
                            {"/sets/0/arch", 0, -1},
                            {"/sets/0/arch", 200, 201}};
  for (const char* us : {"/sets/0/rows/0/us", "/sets/0/rows/0/modelled"})
    limits.insert(limits.end(), {{us, 1e-6, 0.9e-6}, {us, 1e12, 1.1e12}});
  for (const char* name :
       {"/sets/0/device", "/sets/0/model", "/sets/0/date", "/sets/0/driver", "/sets/0/nvrtc", "/sets/0/app",
        "/sets/0/how", "/sets/0/rows/0/problem", "/sets/0/rows/0/kernel", "/sets/0/rows/0/config",
        "/sets/0/rows/0/code_hash", "/sets/0/refused/0/reason", "/sets/0/refused/0/problem"})
    limits.push_back({name, text(2000), text(2001)});
  expect_limits(good, read, limits);
}

TEST(Limits, OfARobustKbenchConfig) {
  const Json shape{{"name", "a"}, {"batch_size", 1}, {"num_heads", 1}, {"seq_len", 64}, {"head_dim", 64}};
  const Json good{{"shapes", {shape}},
                  {"runners", {"mma"}},
                  {"tolerances", {{"atol", 0}, {"rtol", 0}}},
                  {"gain", {{"speedup", 1.5}, {"shapes", 1}}}};
  const auto read = [](const Json& json) {
    const auto taken = rbk_config_from_yaml(json.dump(), "c");  // JSON is YAML
    return taken ? "" : taken.error().message;
  };
  expect_limits(good, read,
                {{"/shapes/0/name", text(200), text(201)},
                 {"/shapes/0/name", "a", "a\nb"},
                 {"/shapes/0/batch_size", 1, 0},
                 {"/shapes/0/num_heads", 1, 0},
                 {"/shapes/0/seq_len", 1, 0},
                 {"/shapes/0/head_dim", 64, 16777217},
                 {"/runners", list(100, "mma"), list(101, "mma")},
                 {"/runners/0", text(2000), text(2001)},
                 {"/baseline", text(2000), text(2001)},
                 {"/output_dir", text(2000), "a\nb"},
                 {"/tolerances/atol", 0, -1e-9},
                 {"/tolerances/rtol", 1e6, 1.1e6},
                 {"/gain/speedup", 1, 0.99},
                 {"/gain/speedup", 1000, 1001},
                 {"/gain/shapes", 1, 0},
                 {"/gain/shapes", 10000, 10001},
                 {"/warmups", 0, -1},
                 {"/iterations", 1000000000, 1000000001}});
  const auto config = rbk_config_from_yaml(Json{{"shapes", {shape}}}.dump(), "c");
  ASSERT_TRUE(config) << config.error().message;
  for (const bool saved : {config->save_json, config->save_csv, config->save_markdown, config->save_html})
    EXPECT_TRUE(saved) << "unless the config says otherwise";
  EXPECT_EQ(config->gain.speedup, 1.1);
  EXPECT_EQ(config->gain.shapes, 2);
}

}  // namespace
}  // namespace attnscope::report
