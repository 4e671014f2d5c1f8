// robust-kbench's config and reports: which YAML is taken and refused, gates, and the contents of the files.
#include "report/rbk_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "report/yaml.h"

namespace attnscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Yaml, ScalarsHaveTheTypesOfYamlsCoreSchema) {
  const auto json = json_from_yaml(
      "whole: 20\nsigned: -3\nplus: +4\nreal: 1e-3\nyes_is_text: yes\non: true\noff: False\nnone: ~\nempty:\n"
      "quoted: \"20\"\nword: 'true'\nversion: 1.2.3\nhex: 0x10\nlist: [1, a, [2]]\nmap: {a: 1}\nblock: |\n  x\n  y\n",
      "c.yaml");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->dump(), Json::parse(R"({"whole":20,"signed":-3,"plus":4,"real":0.001,"yes_is_text":"yes","on":true,
    "off":false,"none":null,"empty":null,"quoted":"20","word":"true","version":"1.2.3","hex":"0x10","list":[1,"a",[2]],
    "map":{"a":1},"block":"x\ny\n"})")
                              .dump());
}

TEST(Yaml, WhatIsNotPlainIsRefusedWithItsLine) {
  const std::string deep(200, '[');
  std::string blocks, mappings;
  for (int i = 0; i < 100; ++i) blocks += "- ", mappings += "{a: ";
  const struct {
    const char* about;
    std::string text, line, why;
  } cases[] = {
      {"an alias bomb", "a: &a [x]\nb: *a\n", ":1:", "anchor"},
      {"an alias", "b: *a\n", ":1:", "alias"},
      {"a tag", "\na: !!python/object:os.system x\n", ":2:", "tag"},
      {"a tag of a mapping", "a: !x {b: 1}\n", ":1:", "tag"},
      {"a merge by an alias", "a: 1\n<<: *x\n", ":2:", "alias"},
      {"a key twice", "a: 1\nb: 2\na: 3\n", ":3:", "\"a\" stands twice"},
      {"a key that is a list", "? [a]\n: 1\n", ":1:", "key"},
      {"a key that is a number", "1: a\n", ":1:", "key"},
      {"two documents", "a: 1\n---\nb: 2\n", ":2:", "second document"},
      {"nothing", "", ":1:", "holds nothing"},
      {"only a remark", "# x\n", ":", "holds nothing"},
      {"an open list", "a: [1, 2\n", ":", ""},
      {"a tabulator", "a:\n\t- 1\n", ":", ""},
      {"a control character", "a: \x01\n", ":", ""},
      {"no UTF-8", "a: \xff\xfe\n", ":", ""},
      {"deep", deep, ":1:", "deep"},
      {"deep blocks", blocks + "x\n", ":1:", "deep"},
      {"deep mappings", mappings + "x", ":1:", "deep"},
  };
  for (const auto& [about, text, line, why] : cases) {
    const auto json = json_from_yaml(text, "c.yaml");
    ASSERT_FALSE(json) << about;
    EXPECT_EQ(json.error().stage, Stage::input) << about;
    EXPECT_THAT(json.error().message, HasSubstr("c.yaml" + line)) << about;
    EXPECT_THAT(json.error().message, HasSubstr(why)) << about;
  }
}

TEST(Yaml, ANumberIsOneThroughout) {
  const auto of = [](const std::string& text) { return json_from_yaml("a: " + text + "\n", "c").value()["a"]; };
  EXPECT_EQ(of("+4"), 4);
  EXPECT_EQ(of("-4.5"), -4.5);
  EXPECT_EQ(of("+1e2"), 100);
  EXPECT_EQ(of("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(of("9223372036854775808"), 9223372036854775808.0);
  for (const char* text : {"+", ".", "e", "4a", "4-", "1 2", "+-4", "++4", "1e", "inf", "nan", "1e999", "4_0", "0x1"})
    EXPECT_EQ(of(text), text);
}

TEST(Yaml, APlaceIsItsLine) {
  const auto why = [](const std::string& text) { return json_from_yaml(text, "c").error().message; };
  EXPECT_THAT(why("a: 1\nb: [1,\n  2\n"), HasSubstr("c:4:"));
  EXPECT_THAT(why("a: 1\nb:\n\t- 1\n"), HasSubstr("c:3:"));
  EXPECT_THAT(why("a: 1\nb: &x 2\n"), HasSubstr("c:2:"));
  EXPECT_THAT(why("a: 1\nb: !!int 2\n"), HasSubstr("c:2:"));
  EXPECT_THAT(why("a: &x {}\n"), HasSubstr("c:1:"));
  EXPECT_THAT(why("a: !x []\n"), HasSubstr("c:1:"));
}

TEST(Yaml, TakesThirtyTwoLevels) {
  const auto nested = [](size_t levels) {
    return json_from_yaml(std::string(levels, '[') + "x" + std::string(levels, ']'), "c.yaml").has_value();
  };
  EXPECT_TRUE(nested(32));
  EXPECT_FALSE(nested(33));
  const auto mapped = [](size_t levels) {
    std::string text;
    for (size_t i = 0; i < levels; ++i) text += "{a: ";
    return json_from_yaml(text + "x" + std::string(levels, '}'), "c.yaml").has_value();
  };
  EXPECT_TRUE(mapped(32));
  EXPECT_FALSE(mapped(33));
}

// robust-kbench's own file, cut down: it has neither runners nor tolerances.
constexpr const char* kPublished =
    "# canonical\nwarmups: 20\niterations: 100\noutput_dir: \"benchmarks/l4\"\nsave_json: true\nsave_csv: true\n"
    "save_markdown: true\nshapes:\n  - name: \"small\"\n    batch_size: 1\n    num_heads: 8\n    seq_len: 512\n"
    "    head_dim: 64\n    causal: false\n    dtype: \"float16\"\n  - name: medium_bf16\n    batch_size: 4\n"
    "    num_heads: 8\n    seq_len: 1024\n    head_dim: 64\n    causal: true\n    dtype: bfloat16\n";

TEST(RbkConfig, ReadsRobustKbenchsOwnFile) {
  const auto config = rbk_config_from_yaml(kPublished, "rbk_config.yaml");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->shapes.size(), 2u);
  EXPECT_EQ(config->output_dir, "benchmarks/l4");
  const auto small = problem_of(config->shapes[0], ""), medium = problem_of(config->shapes[1], "");
  EXPECT_EQ(problem_text(*small), "B1 H8 S512 D64");
  EXPECT_EQ(medium->kv_heads, 8);
  EXPECT_EQ(medium->dtype, DType::bf16);
  EXPECT_EQ(medium->causal, Causal::bottom_right);
  EXPECT_EQ(medium->seq_k, 1024);
  EXPECT_FALSE(config->tolerances);
  EXPECT_EQ(config->gain.speedup, 1.1);
  EXPECT_EQ(config->gain.shapes, 2);
}

TEST(RbkConfig, RefusesWhatItDoesNotUnderstandByItsPlace) {
  const std::string shape = "{name: a, batch_size: 1, num_heads: 1, seq_len: 64, head_dim: 64}";
  const auto shapes = [&](const std::string& more) { return "shapes: [" + shape + "]\n" + more; };
  ASSERT_TRUE(rbk_config_from_yaml(shapes("runners: [a]\ntolerances: {atol: 0.001, rtol: 0}\n"), "c"));
  const std::pair<std::string, const char*> cases[] = {
      {"[]\n", "c"},
      {"shapes: []\n", "shapes"},
      {"warmups: 1\n", "shapes"},
      {shapes("runner: [a]\n"), "runner"},
      {shapes("runners: a\n"), "runners"},
      {shapes("runners: [1]\n"), "runners"},
      {shapes("tolerances: {atol: tight, rtol: 0}\n"), "atol"},
      {shapes("tolerances: {atol: -1, rtol: 0}\n"), "atol"},
      {shapes("tolerances: {atol: 1}\n"), "rtol"},
      {shapes("gain: {speedup: 0.5}\n"), "speedup"},
      {shapes("save_json: yes\n"), "save_json"},
      {shapes("warmups: -1\n"), "warmups"},
      {"shapes: [" + shape + ", " + shape + "]\n", "stands twice"},
      {"shapes: [{name: a, batch_size: 0, num_heads: 1, seq_len: 64, head_dim: 64}]\n", "batch_size"},
      {"shapes: [{name: a, batch_size: 1e99, num_heads: 1, seq_len: 64, head_dim: 64}]\n", "batch_size"},
      {"shapes: [{name: a, batch_size: 1, num_heads: 1, seq_len: 64}]\n", "head_dim"},
      {"shapes: [{name: a, batch_size: 1, num_heads: 1, seq_len: 64, head_dim: 100000}]\n", "shape \"a\""},
      {"shapes: [{name: a, batch_size: 1, num_heads: 1, seq_len: 64, head_dim: 64, dtype: int8}]\n", "int8"},
      {"shapes: [{name: a, batch_size: 1, num_heads: 1, seq_len: 64, head_dim: 64, causal: maybe}]\n", "causal"},
  };
  for (const auto& [text, why] : cases) {
    const auto config = rbk_config_from_yaml(text, "c");
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().stage, Stage::input) << text;
    EXPECT_THAT(config.error().message, HasSubstr(why)) << text;
  }
}

Cell timed(double us) {
  Cell cell;
  cell.state = CellState::timed;
  cell.kind = FigureKind::measured;
  cell.p10 = cell.p50 = cell.p90 = us;
  cell.verdict = VerdictState::correct;
  cell.error = CellError{1e-4, 1e-4, 1e-3, 1e-3, 0};
  return cell;
}

// Entries base, ours and a peer over three shapes; `ratios`: ours to base.
RbkReport made(const std::vector<Ratio>& ratios) {
  RbkReport report;
  for (const auto& [label, peer] : {std::pair("base", false), {"ours", false}, {"torch flash", true}})
    report.bench.entries.push_back({label, label, "hash", peer, "cuda:0", ""});
  report.bench.entries[0].baseline = true;
  for (size_t at = 0; at < ratios.size(); ++at) {
    report.config.shapes.push_back({"shape " + std::to_string(at), 1, 8, 512, 64, false, "float16"});
    report.rows.push_back(at);
    Row& row = report.bench.rows.emplace_back();
    row.cells = {timed(10), timed(10 / ratios[at].ratio), timed(5)};
    row.cells[1].ratios = {ratios[at], {2, 0.5, measure::Interval{0.4, 0.6}}};
  }
  return report;
}

Ratio measured_ratio(double ratio, double low, double high) { return {0, ratio, measure::Interval{low, high}}; }

const Gate& gate_of(const std::vector<Merge>& merges, GateKind kind) {
  for (const Gate& gate : merges.at(1).gates)
    if (gate.kind == kind) return gate;
  throw std::out_of_range("no such gate");
}

TEST(Gates, AKernelThatIsFasterOnTwoShapesAndNowhereSlowerPasses) {
  const RbkReport report =
      made({measured_ratio(1.2, 1.15, 1.25), measured_ratio(1.1, 1.05, 1.15), measured_ratio(0.99, 0.97, 1.01)});
  const auto merges = gates_of(report.bench, report.config, {true, true, true});
  ASSERT_EQ(merges.size(), 2u) << "a peer has no gates";
  EXPECT_TRUE(merges[1].passes()) << gates_text(merges[1]);
  EXPECT_EQ(gates_text(merges[1]), "5 of 5 gates");
  EXPECT_EQ(merges[0].gates.size(), 3u) << "the baseline is not compared with itself";
}

TEST(Gates, EachOneFailsOrIsUnknownForItsOwnReason) {
  const std::vector<Ratio> good{measured_ratio(1.2, 1.15, 1.25), measured_ratio(1.1, 1.05, 1.15)};
  const auto told = [](const RbkReport& report, GateKind kind, bool documented = true) {
    return gate_of(gates_of(report.bench, report.config, {true, documented, true}), kind).passed;
  };
  EXPECT_EQ(told(made(good), GateKind::documented, false), false);
  // A tie is neither a slowdown nor a gain; a slowdown outside the interval is one.
  EXPECT_EQ(told(made({measured_ratio(0.9, 0.8, 1.01)}), GateKind::not_slower), true);
  EXPECT_EQ(told(made({measured_ratio(0.99, 0.98, 0.999)}), GateKind::not_slower), false);
  EXPECT_EQ(told(made({good[0], measured_ratio(1.2, 0.9, 1.5)}), GateKind::gain), false);
  EXPECT_EQ(told(made({good[0], measured_ratio(1.09, 1.08, 1.1)}), GateKind::gain), false);
  RbkReport report = made(good);
  report.config.gain.shapes = 3;
  EXPECT_EQ(told(report, GateKind::gain), false);
  report = made(good);
  for (Row& row : report.bench.rows) row.cells[0] = {};
  for (Row& row : report.bench.rows) row.cells[1].ratios.clear();
  EXPECT_EQ(told(report, GateKind::not_slower), std::nullopt);
  EXPECT_EQ(told(report, GateKind::gain), std::nullopt);
  report = made(good);
  report.bench.rows[1].cells[1].state = CellState::wrong;
  report.bench.rows[1].cells[1].reason = "element 3";
  EXPECT_EQ(told(report, GateKind::correct), false);
  EXPECT_EQ(told(report, GateKind::compiles), true);
  EXPECT_THAT(gates_text(gates_of(report.bench, report.config, {true, true, true})[1]), HasSubstr("element 3"));
  report = made(good);
  report.bench.rows[0].cells[1].verdict = VerdictState::unchecked;
  EXPECT_EQ(told(report, GateKind::correct), std::nullopt);
  report = made(good);
  for (Row& row : report.bench.rows) row.cells[1] = {};
  EXPECT_EQ(told(report, GateKind::compiles), false);
  EXPECT_EQ(told(report, GateKind::correct), std::nullopt);
}

// A modelled ratio inside the model's bar is a tie; one measured pass says nothing about the next.
TEST(Gates, TellModelledTimesApartByTheirBarAndDoNotJudgeOnePass) {
  const auto gates = [](FigureKind kind, double first, double second) {
    RbkReport report = made({{0, first, std::nullopt}, {0, second, std::nullopt}});
    report.bench.arch = 89;
    for (Row& row : report.bench.rows)
      for (Cell& cell : row.cells) cell.kind = kind;
    return gates_of(report.bench, report.config, {true, true, true});
  };
  const auto told = [](const std::vector<Merge>& merges, GateKind kind) { return gate_of(merges, kind).passed; };
  const auto near = gates(FigureKind::modelled, 0.999, 0.999);
  EXPECT_EQ(told(near, GateKind::not_slower), true);
  const auto slow = gates(FigureKind::modelled, 0.01, 100);
  EXPECT_EQ(told(slow, GateKind::not_slower), false);
  EXPECT_EQ(told(slow, GateKind::gain), false) << "on one shape of two wanted";
  EXPECT_EQ(told(gates(FigureKind::modelled, 1.101, 1.101), GateKind::gain), false) << "inside the bar";
  EXPECT_EQ(told(gates(FigureKind::modelled, 100, 100), GateKind::gain), true);
  const auto once = gates(FigureKind::measured, 0.5, 2);
  EXPECT_EQ(told(once, GateKind::not_slower), std::nullopt);
  EXPECT_EQ(told(once, GateKind::gain), std::nullopt);
  EXPECT_EQ(gate_of(once, GateKind::not_slower).why, "too few passes to tell it from base on 2 shapes");
}

// Each sentence counts what it names.
TEST(Gates, SayOfHowManyShapesTheySpeak) {
  RbkReport report =
      made({measured_ratio(0.9, 0.85, 0.95), measured_ratio(0.8, 0.75, 0.85), measured_ratio(1.2, 1.1, 1.3)});
  report.bench.rows[1].problem.seq_q = report.bench.rows[1].problem.seq_k = 4096;
  const auto why = [&](GateKind kind) { return gate_of(gates_of(report.bench, report.config, {}), kind).why; };
  EXPECT_EQ(why(GateKind::compiles), "runs on 3 shapes");
  EXPECT_EQ(why(GateKind::correct), "on 3 shapes");
  EXPECT_THAT(why(GateKind::not_slower), HasSubstr("slower than base on 2 shapes, most at "));
  EXPECT_THAT(why(GateKind::not_slower), HasSubstr("4096")) << "0.8 is the worst";
  EXPECT_EQ(why(GateKind::gain), "at least 1.1 times as fast as base on 1 of 3, 2 wanted");
  EXPECT_EQ(why(GateKind::documented), "its manifest has no \"story\"");
  report.config.gain = {1.2, 1};
  EXPECT_EQ(why(GateKind::gain), "at least 1.2 times as fast as base on 1 of 3, 1 wanted");
  EXPECT_EQ(gate_of(gates_of(report.bench, report.config, {}), GateKind::gain).passed, true);
  report.bench.rows[0].cells[1].state = CellState::not_applicable;
  report.bench.rows[0].cells[1].reason = "no such dtype";
  EXPECT_THAT(why(GateKind::compiles), HasSubstr("runs on 2 shapes; not on 1 shape: "));
  EXPECT_THAT(why(GateKind::compiles), HasSubstr(": no such dtype"));
  report.bench.rows[1].cells[1].state = CellState::wrong;
  report.bench.rows[1].cells[1].reason = "element 3";
  EXPECT_THAT(why(GateKind::correct), HasSubstr("wrong on 1 shape: "));
  EXPECT_THAT(why(GateKind::compiles), HasSubstr("runs on 2 shapes")) << "a wrong output ran";
}

TEST(Gates, SayWhyCorrectIsNotEnough) {
  RbkReport report = made({measured_ratio(1.2, 1.1, 1.3), measured_ratio(1.2, 1.1, 1.3)});
  const auto why = [&] { return gate_of(gates_of(report.bench, report.config, {}), GateKind::correct).why; };
  report.config.tolerances = Tolerances{1e-3, 1e-3};
  EXPECT_EQ(why(), "on 2 shapes");
  report.config.tolerances = Tolerances{1e-5, 1e-5};
  EXPECT_EQ(why(), "correct, but atol 1e-05 and rtol 1e-05 are tighter than what was checked on 2 shapes");
  report.bench.rows[1].cells[1].error->outside_share = 0.1;
  EXPECT_EQ(why(), "correct, but on 1 shape not within atol 1e-05 and rtol 1e-05");
  report.bench.rows[0].cells[1].verdict = VerdictState::unchecked;
  EXPECT_EQ(why(), "unchecked on 1 shape");
  for (Row& row : report.bench.rows) row.cells[1].state = CellState::not_applicable;
  EXPECT_EQ(why(), "it ran on no shape");
}

TEST(Gates, ACorrectOutputIsWithinOtherTolerancesOnlyWhereThatFollows) {
  Cell cell = timed(1);  // largest error 1e-4; nothing outside atol and rtol of 1e-3
  EXPECT_EQ(within(cell, {1e-3, 1e-3}), true);
  EXPECT_EQ(within(cell, {1e-2, 1e-2}), true);
  EXPECT_EQ(within(cell, {1e-4, 0}), true) << "the largest error is within atol itself";
  EXPECT_EQ(within(cell, {1e-5, 1e-3}), std::nullopt);
  EXPECT_EQ(within(cell, {1e-5, 1e-5}), std::nullopt);
  cell.error->outside_share = 0.1;
  EXPECT_EQ(within(cell, {1e-5, 1e-5}), false);
  EXPECT_EQ(within(cell, {1e-5, 1e-2}), std::nullopt);
  cell.error.reset();
  EXPECT_EQ(within(cell, {1, 1}), std::nullopt);
  RbkReport report = made({measured_ratio(1.2, 1.15, 1.25)});
  report.config.tolerances = Tolerances{1e-5, 1e-5};
  EXPECT_EQ(gate_of(gates_of(report.bench, report.config, {}), GateKind::correct).passed, std::nullopt);
  report.bench.rows[0].cells[1].error->outside_share = 0.1;
  EXPECT_EQ(gate_of(gates_of(report.bench, report.config, {}), GateKind::correct).passed, false);
}

TEST(RbkReport, HasRobustKbenchsKeysWithSamplesInMilliseconds) {
  RbkReport report = made({measured_ratio(2, 1.9, 2.1), measured_ratio(2, 1.9, 2.1)});
  report.config.shapes.push_back(report.config.shapes[1]);  // the same problem under another name
  report.config.shapes[2].name = "again";
  report.rows.push_back(1);
  report.bench.rows[0].cells[0].state = CellState::not_applicable;
  report.bench.rows[0].cells[0].reason = "does not fit";
  report.state.taken.assign(2, std::vector<CellTaken>(3));
  report.state.taken[1][1].blocks = {{{4000, 2000}, {1000, 3000}}};
  report.merges = gates_of(report.bench, report.config, {true, true, true});
  const Json json = to_json(report);
  EXPECT_EQ(json["results"].size(), 8u);
  EXPECT_EQ(json["summary"]["total_shapes"], 3);
  EXPECT_EQ(json["not_timed"][0]["reason"], "does not fit");
  const auto found = std::ranges::find_if(
      json["results"], [](const Json& one) { return one["kernel_name"] == "ours" && one["shape"]["name"] == "again"; });
  ASSERT_NE(found, json["results"].end());
  EXPECT_EQ((*found)["raw_latencies_ms"], Json::parse("[1.0, 2.0, 3.0, 4.0]"));
  EXPECT_EQ((*found)["mean_latency_ms"], 2.5);
  EXPECT_NEAR((*found)["std_latency_ms"].get<double>(), 1.1180, 1e-4);
  EXPECT_NEAR((*found)["p95_latency_ms"].get<double>(), 3.85, 1e-9);
  EXPECT_EQ((*found)["p50_latency_ms"], 0.005);
  EXPECT_EQ((*found)["ratio_to_baseline"]["ratio"], 2);
  EXPECT_EQ((*found)["ratio_to_sdpa"]["to"], "torch flash");
  EXPECT_EQ(json["results"][0]["p95_latency_ms"], nullptr) << "no samples are kept of it";
  EXPECT_EQ(json["gates"][1]["gates"].size(), 5u);
  for (const std::string& text : {as_markdown(report), as_html(report)}) {
    EXPECT_THAT(text, HasSubstr("does not fit"));
    EXPECT_THAT(text, HasSubstr("again"));
    EXPECT_THAT(text, HasSubstr("2.00x"));
  }
  EXPECT_THAT(as_csv(report), HasSubstr("\nours,again,1,8,512,64,False,float16,0.005,0.005,3.85,3.97,2.5,1.11803,0,"
                                        "measured,correct\n"));
  EXPECT_THAT(as_csv(report), HasSubstr("\nbase,again,1,8,512,64,False,float16,0.01,0.01,,,,,0,measured,correct\n"));
  EXPECT_DOUBLE_EQ(json["summary"]["mean_p50_ms"], 0.00625);
  EXPECT_EQ(json["summary"]["kernels"], Json({"base", "ours", "torch flash"}));
  EXPECT_DOUBLE_EQ((*found)["p99_latency_ms"], 3.97);
  EXPECT_EQ((*found)["max_abs"], 1e-4);
}

// Each figure of a result under its own key, in ms; what is not known is null.
TEST(RbkReport, AResultHasItsFiguresAndNullForTheRest) {
  RbkReport report = made({measured_ratio(2, 1.9, 2.1)});
  Cell& ours = report.bench.rows[0].cells[1];
  ours.p50 = 7000, ours.p90 = 8000, ours.tflops = 12, ours.config = "STAGES=2";
  ours.interval = measure::Interval{6000, 7500};
  ours.error = CellError{0.25, 0.125, 1e-3, 1e-3, 0};
  report.bench.rows[0].cells[0].error.reset();
  report.bench.rows[0].cells[0].tflops = 6;
  const Json json = to_json(report);
  const Json &base = json["results"][0], &of = json["results"][1];
  EXPECT_EQ(of["p50_latency_ms"], 7.0);
  EXPECT_EQ(of["p90_latency_ms"], 8.0);
  EXPECT_EQ(of["interval_ms"], Json({6.0, 7.5}));
  EXPECT_EQ(of["tflops"], 12);
  EXPECT_EQ(of["config"], "STAGES=2");
  EXPECT_EQ(of["max_abs"], 0.25);
  EXPECT_EQ(of["rel_frobenius"], 0.125);
  EXPECT_EQ(of["kind"], "measured");
  EXPECT_EQ(of["verdict"], "correct");
  EXPECT_EQ(of["ratio_to_baseline"]["to"], "base");
  EXPECT_EQ(of["ratio_to_baseline"]["interval"], Json({1.9, 2.1}));
  EXPECT_EQ(of["ratio_to_baseline"]["tie"], false);
  EXPECT_EQ(of["ratio_to_sdpa"]["interval"], Json({0.4, 0.6}));
  for (const char* key : {"interval_ms", "max_abs", "rel_frobenius", "p95_latency_ms", "mean_latency_ms",
                          "std_latency_ms", "ratio_to_baseline", "ratio_to_sdpa"})
    EXPECT_EQ(base[key], nullptr) << key;
  EXPECT_EQ(base["raw_latencies_ms"], Json::array());
  EXPECT_DOUBLE_EQ(json["summary"]["mean_tflops"].get<double>(), (6 + 12 + 0) / 3.0);
  for (Cell& cell : report.bench.rows[0].cells) cell.state = CellState::not_applicable;
  const Json none = to_json(report);
  EXPECT_EQ(none["summary"]["mean_p50_ms"], nullptr);
  EXPECT_EQ(none["summary"]["mean_tflops"], nullptr);
  EXPECT_EQ(none["not_timed"].size(), 3u);
  EXPECT_EQ(none["not_timed"][1]["kernel_name"], "ours");
}

// The page opens without a network: nothing in it refers to another place, and no script runs.
TEST(RbkReport, ThePageLoadsNothing) {
  RbkReport report = made({measured_ratio(2, 1.9, 2.1)});
  report.bench.device_name = "<script src=http://x></script>";
  report.merges = gates_of(report.bench, report.config, {true, true, true});
  std::string page = as_html(report);
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("&lt;script src=http://x"));
  const std::string space = "xmlns=\"http://www.w3.org/2000/svg\"";
  ASSERT_NE(page.find(space), page.npos);
  page.erase(page.find(space), space.size());
  for (const char* never : {"<script", "src=\"", "href", "@import", "url(", "<link", "<iframe", "\"http"})
    EXPECT_THAT(page, Not(HasSubstr(never)));
}

}  // namespace
}  // namespace attnscope::report
