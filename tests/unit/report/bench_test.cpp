#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/json.h"
#include "report/bench_run.h"
#include "report/tuned.h"
#include "support/temp_dir.h"

namespace attnscope::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

BenchPlan plan_of(bool emulated, std::vector<std::pair<std::string, bool>> entries, size_t rows = 1) {
  BenchPlan plan;
  plan.head.device = emulated ? "emulated:l4" : "cuda:0";
  plan.head.device_name = "NVIDIA L4";
  plan.head.arch = 89;
  plan.head.emulated = emulated;
  plan.head.versions.app = "0.1.0";
  for (const auto& [label, peer] : entries)
    plan.head.entries.push_back({label, label, "hash", peer, plan.head.device, ""});
  for (size_t r = 0; r < rows; ++r) {
    Row& row = plan.head.rows.emplace_back();
    row.problem.batch = static_cast<int64_t>(r) + 1;
    row.cells.resize(entries.size());
  }
  return plan;
}

// A device whose clock drifts: every run is slower than the previous one.
struct FakeDevice {
  explicit FakeDevice(std::vector<double> times, bool is_emulated = false)
      : us(std::move(times)), emulated(is_emulated) {}
  std::vector<double> us;  // per entry
  bool emulated = false;
  std::vector<std::pair<size_t, size_t>> asked;
  double drift = 0.002;
  std::map<size_t, Failure> refuses;
  std::map<size_t, size_t> fails_at;  // entry → its first run that fails
  std::mt19937 random{7};

  Observation run(size_t row, size_t entry) {
    asked.emplace_back(row, entry);
    Observation o;
    o.experiment.config.knobs = {{"BLOCK_M", 16}};
    if (refuses.contains(entry)) {
      o.failure = refuses[entry];
      return o;
    }
    const auto runs = std::count(asked.begin(), asked.end(), std::pair(row, entry));
    if (fails_at.contains(entry) && static_cast<size_t>(runs) >= fails_at[entry]) {
      o.failure = Failure{Stage::crash, "it crashed", ""};
      return o;
    }
    const double at = us[entry] * (1 + drift * static_cast<double>(asked.size()));
    Timing& timing = o.timing.emplace();
    timing.kind = emulated ? FigureKind::modelled : FigureKind::measured;
    timing.p10 = timing.p50 = timing.p90 = at;
    o.verdict.emplace().state = VerdictState::correct;
    if (!emulated) {
      Sampling& sampling = timing.sampling.emplace();
      for (int round = 0; round < 3; ++round)
        for (auto& us_of_round = sampling.rounds.emplace_back(); us_of_round.size() < 8;)
          us_of_round.push_back(at * (1 + 1e-4 * (double(random() % 2001) - 1000) / 1000));
    }
    return o;
  }

  BenchCalls calls(std::vector<BenchState>* saved = nullptr) {
    BenchCalls calls;
    calls.run = [this](size_t row, size_t entry) { return run(row, entry); };
    calls.save = [saved](const BenchState& state) {
      if (saved) saved->push_back(state);
    };
    calls.on_progress = [](const BenchProgress&) {};
    calls.now_seconds = [this] { return double(asked.size()); };
    calls.config_text = [](size_t, const auto&) { return std::string("BLOCK_M=16"); };
    return calls;
  }
};

TEST(Bench, PassesAlternateSoThatADriftFallsOnAll) {
  FakeDevice device({100, 100, 100});
  const BenchPlan plan = plan_of(false, {{"a", false}, {"b", false}, {"c", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 3u * 13);  // the first pass warms up
  for (size_t pass = 0; pass < 13; ++pass)
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(device.asked[3 * pass + i].second, pass % 2 ? 2 - i : i);
  // By the 39th run the clock has drifted by 8 %, and equal kernels are still a tie.
  const BenchReport report = report_of(plan, state, "today");
  ASSERT_EQ(report.rows[0].cells[0].ratios.size(), 1u);
  EXPECT_TRUE(report.rows[0].cells[0].ratios[0].tie())
      << ratio_text(report.rows[0].cells[0].ratios[0], FigureKind::measured);
  EXPECT_NEAR(report.rows[0].cells[0].ratios[0].ratio, 1, 0.005);
}

TEST(Bench, ARatioIsThePeersTimeToOurs) {
  FakeDevice device({50, 65});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "today");
  const Ratio* ratio = ratio_to(report.rows[0].cells[0], 1);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->ratio, 1.3, 0.001);
  ASSERT_TRUE(ratio->interval);
  EXPECT_TRUE(ratio->interval->contains(1.3));
  EXPECT_FALSE(ratio->tie());
  EXPECT_TRUE(report.rows[0].cells[1].ratios.empty());  // a peer is not compared with itself
  EXPECT_EQ(report.rows[0].cells[0].samples, 12 * 24);
  EXPECT_NEAR(report.rows[0].cells[0].tflops, Problem{}.flops() / 50e6, 0.01);
  ASSERT_TRUE(report.rows[0].cells[0].interval);
  EXPECT_TRUE(report.rows[0].cells[0].interval->contains(50));
  // The samples of one run are closer together than separate runs are.
  EXPECT_NEAR(report.rows[0].cells[0].interval->half_width(), 50 * measure::kBetweenRuns, 0.002);
  EXPECT_THAT(as_table(report), HasSubstr("measured on NVIDIA L4"));
}

TEST(Bench, APeerCountsAnywhereInTheList) {
  FakeDevice device({65, 50, 130});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"peer", true}, {"ours", false}, {"slow peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "today");
  const Ratio *to_first = ratio_to(report.rows[0].cells[1], 0), *to_last = ratio_to(report.rows[0].cells[1], 2);
  ASSERT_TRUE(to_first && to_last);
  EXPECT_NEAR(to_first->ratio, 1.3, 0.001);
  EXPECT_NEAR(to_last->ratio, 2.6, 0.002);
  EXPECT_EQ(best_peer(report, report.rows[0]), 0u);
}

TEST(Bench, APassThatGaveNoSamplesIsNotCompared) {
  FakeDevice device({50, 65});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const auto ratio = [&] { return *ratio_to(report_of(plan, state, "today").rows[0].cells[0], 1); };
  const size_t passes = state.taken[0][0].blocks.size();
  ASSERT_GE(passes, size_t{measure::kFewestBlocks});
  for (size_t pass = 0; pass + measure::kFewestBlocks < passes; ++pass) state.taken[0][0].blocks[pass] = {{}};
  EXPECT_TRUE(ratio().interval) << "as many are left as it takes";
  EXPECT_NEAR(ratio().ratio, 1.3, 0.001);
  state.taken[0][1].blocks.back() = {{}};
  EXPECT_FALSE(ratio().interval) << "one less";
}

TEST(Bench, ModelledTimesComeOnceAndHaveNoInterval) {
  FakeDevice device({50, 100}, true);
  const BenchPlan plan = plan_of(true, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 2u);
  const BenchReport report = report_of(plan, state, "today");
  const Cell& cell = report.rows[0].cells[0];
  EXPECT_EQ(cell.kind, FigureKind::modelled);
  EXPECT_FALSE(cell.interval);
  ASSERT_EQ(cell.ratios.size(), 1u);
  EXPECT_FALSE(cell.ratios[0].interval);
  EXPECT_FALSE(cell.ratios[0].tie());
  for (const std::string& text : {as_table(report), as_markdown(report), as_svg(report)}) {
    EXPECT_THAT(text, HasSubstr("modelled"));
    EXPECT_THAT(text, Not(HasSubstr("measured on")));
  }
  EXPECT_THAT(as_svg(report), HasSubstr("<path"));         // a hollow diamond
  EXPECT_THAT(as_svg(report), Not(HasSubstr("<circle")));  // and no dot
}

TEST(Bench, WhoCannotDoItIsAskedOnceAndSaysWhy) {
  FakeDevice device({50, 60, 70});
  device.refuses[1] = Failure{Stage::limits, "asks 57,376 B of static shared memory\nand more", "Set SHARED."};
  device.refuses[2] = Failure{Stage::device, "worker torch is not available", "pip install torch"};
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"big", false}, {"torch", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 13u + 2);
  const BenchReport report = report_of(plan, state, "today");
  EXPECT_EQ(report.rows[0].cells[1].state, CellState::not_applicable);
  EXPECT_EQ(report.rows[0].cells[1].reason, "does not fit: asks 57,376 B of static shared memory");
  EXPECT_THAT(report.rows[0].cells[2].reason, HasSubstr("pip install torch"));
  EXPECT_TRUE(report.rows[0].cells[0].ratios.empty());
  EXPECT_FALSE(best_peer(report, report.rows[0]));
}

TEST(Bench, ALaunchThatOutlastsPassesComesOnceAndHasNoInterval) {
  FakeDevice device({50, 60, 400000});  // us; a pass has 100 ms
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}, {"slow", false}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  EXPECT_EQ(device.asked.size(), 2u * 13 + 1);
  auto again = state_from_json(to_json(state), plan, "state.json");
  ASSERT_TRUE(again) << again.error().message;
  const BenchReport report = report_of(plan, *again, "today");
  const Cell& slow = report.rows[0].cells[2];
  EXPECT_EQ(slow.state, CellState::timed);
  EXPECT_NEAR(slow.p50, 400000, 5000);
  EXPECT_EQ(slow.samples, 24);
  EXPECT_FALSE(slow.interval);
  ASSERT_EQ(slow.ratios.size(), 1u);
  EXPECT_FALSE(slow.ratios[0].interval);
  EXPECT_FALSE(slow.ratios[0].tie());
  EXPECT_NEAR(slow.ratios[0].ratio, 60.0 / 400000, 1e-5);
  EXPECT_TRUE(report.rows[0].cells[0].ratios[0].interval);
  for (const std::string& text : {as_table(report), as_markdown(report), as_svg(report)}) {
    EXPECT_THAT(text, HasSubstr("one pass"));
    EXPECT_THAT(text, Not(HasSubstr("modelled,")));
  }
}

TEST(Bench, IsSlowFromThreePassesOn) {
  for (const auto& [us, runs] : {std::pair(299000.0, 13u), {301000.0, 1u}}) {  // a pass has 100 ms
    FakeDevice device({us});
    device.drift = 0;
    BenchState state;
    run_bench(plan_of(false, {{"ours", false}}), device.calls(), state);
    EXPECT_EQ(device.asked.size(), runs) << us;
  }
}

TEST(Bench, APassKeepsAtMost250Samples) {
  for (const auto& [taken, kept] : {std::pair<size_t, size_t>{250, 250}, {251, 126}}) {  // every second one
    FakeDevice device({50});
    BenchCalls calls = device.calls();
    calls.run = [&](size_t row, size_t entry) {
      Observation o = device.run(row, entry);
      o.timing->sampling->rounds.assign(1, std::vector<double>(taken, 50));
      return o;
    };
    BenchState state;
    run_bench(plan_of(false, {{"ours", false}}), calls, state);
    EXPECT_EQ(measure::pooled(state.taken[0][0].blocks[0]).size(), kept);
  }
}

TEST(Bench, TwoPassesHaveAnIntervalAndOneHasNone) {
  FakeDevice device({50});
  const BenchPlan plan = plan_of(false, {{"ours", false}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const auto has_interval = [&](size_t passes) {
    BenchState some = state;
    some.taken[0][0].blocks.resize(passes);
    return report_of(plan, some, "d").rows[0].cells[0].interval.has_value();
  };
  EXPECT_TRUE(has_interval(2));
  EXPECT_FALSE(has_interval(1));
}

TEST(Bench, AStateIsOfThePlanThatItBeganWith) {
  BenchPlan plan = plan_of(false, {{"ours", false}});
  const std::string hash = plan_hash(plan);
  plan.head.date = "tomorrow";
  EXPECT_EQ(plan_hash(plan), hash);
  plan.block_ms += 1;
  EXPECT_NE(plan_hash(plan), hash);
  plan.block_ms -= 1, plan.blocks += 1;
  EXPECT_NE(plan_hash(plan), hash);
  plan.blocks -= 1, plan.head.entries[0].kernel_hash = "edited";
  EXPECT_NE(plan_hash(plan), hash);
}

TEST(Bench, AFailureInALaterPassIsNoTime) {
  FakeDevice device({50, 60});
  device.fails_at[0] = 4;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "today");
  EXPECT_EQ(report.rows[0].cells[0].state, CellState::not_applicable);
  EXPECT_EQ(report.rows[0].cells[0].reason, "failed: it crashed");
  EXPECT_EQ(report.rows[0].cells[1].state, CellState::timed);
}

TEST(Bench, ContinuesWhereItEnded) {
  FakeDevice whole({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}}, 2);
  std::vector<BenchState> saved;
  BenchState state;
  run_bench(plan, whole.calls(&saved), state);
  ASSERT_EQ(saved.size(), 26u);

  auto kept = state_from_json(to_json(saved[16]), plan, "state.json");  // 13 of the first row, 4 of the second
  ASSERT_TRUE(kept) << kept.error().message;
  FakeDevice rest({50, 60});
  run_bench(plan, rest.calls(), *kept);
  EXPECT_EQ(rest.asked.size(), 2u * 9);
  EXPECT_THAT(std::vector(rest.asked.begin(), rest.asked.begin() + 2),
              ElementsAre(std::pair<size_t, size_t>(1, 0), std::pair<size_t, size_t>(1, 1)));
  EXPECT_EQ(to_json(report_of(plan, *kept, "d")).at("rows")[0], to_json(report_of(plan, state, "d")).at("rows")[0]);

  BenchPlan other = plan;
  other.head.entries[0].kernel_hash = "edited";
  EXPECT_FALSE(state_from_json(to_json(saved[16]), other, "state.json"));
  EXPECT_FALSE(state_from_json(Json{{"plan", plan_hash(plan)}}, plan, "state.json"));
  for (const char* place : {"/blocks/0/0/0/0/0", "/blocks/0/0/0/0", "/blocks/0/0/0", "/blocks/0/0", "/blocks/0",
                            "/blocks", "/passes/0", "/passes", "/first"}) {
    Json damaged = to_json(saved[16]);
    damaged[Json::json_pointer(place)] = "text";
    EXPECT_FALSE(state_from_json(damaged, plan, "state.json")) << place;
  }
}

TEST(Bench, EndedEarlyItSaysWhatItDidNotReach) {
  FakeDevice device({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}}, 2);
  BenchState state;
  BenchCalls calls = device.calls();
  calls.enough = [&] { return device.asked.size() >= 25; };  // in the middle of the first row's last pass
  EXPECT_FALSE(run_bench(plan, calls, state));
  EXPECT_THAT(state.passes, ElementsAre(12, 0));
  const BenchReport report = report_of(plan, state, "today");
  EXPECT_TRUE(report.rows[0].cells[0].ratios[0].interval);
  EXPECT_EQ(report.rows[1].cells[0].state, CellState::not_applicable);
  EXPECT_THAT(report.rows[1].cells[0].reason, HasSubstr("ended before"));
  calls.enough = nullptr;
  EXPECT_TRUE(run_bench(plan, calls, state));
  EXPECT_THAT(state.passes, ElementsAre(13, 13));
}

TEST(Bench, ProgressPredictsTheRest) {
  FakeDevice device({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}}, 2);
  std::vector<BenchProgress> told;
  BenchCalls calls = device.calls();
  calls.on_progress = [&](const BenchProgress& p) { told.push_back(p); };
  BenchState state;
  run_bench(plan, calls, state);
  ASSERT_EQ(told.size(), 52u);
  EXPECT_FALSE(told[0].left_seconds);
  EXPECT_NEAR(*told[1].left_seconds, 51, 0.5);
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i].total, 52) << i;
  EXPECT_NEAR(*told[26].left_seconds, 26, 0.5);  // one second per run
}

TEST(Bench, AReportSurvivesItsJsonAndRendersAgain) {
  FakeDevice device({50, 50.00001, 2870});
  device.drift = 0;
  BenchPlan plan = plan_of(false, {{"ours", false}, {"flash | 2", true}, {"slow <&>", false}}, 2);
  plan.head.rows[1].problem.causal = Causal::bottom_right;
  BenchState state;
  run_bench(plan, device.calls(), state);
  const BenchReport report = report_of(plan, state, "2026-11-21T12:00:00Z");
  auto again = report_from_json(parse_json(to_json(report).dump(), "x").value(), "x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, report);
  EXPECT_EQ(as_markdown(*again), as_markdown(report));
  EXPECT_THAT(as_markdown(report), HasSubstr("(tie)"));
  EXPECT_THAT(as_markdown(report), testing::StartsWith(as_ladder(report).substr(0, as_ladder(report).find("\n\n"))));
  EXPECT_THAT(as_markdown(report), HasSubstr("flash \\| 2"));
  EXPECT_THAT(as_svg(report), HasSubstr("slow &lt;&amp;&gt;"));
  EXPECT_THAT(as_table(report), HasSubstr("2,870"));
}

// Every place where that text stands in the picture, from the left.
std::vector<double> places_of(const std::string& svg, const std::string& text) {
  std::vector<double> places;
  const std::string begin = "<text x=\"", end = ">" + text + "</text>";
  for (size_t at = svg.find(end); at != std::string::npos; at = svg.find(end, at + 1))
    places.push_back(std::stod(svg.substr(svg.rfind(begin, at) + begin.size())));
  return places;
}

TEST(Bench, ThePicturesAxisIsLogarithmicAndSaysItsTimes) {
  FakeDevice device({10, 90});
  device.drift = 0;
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const std::string svg = as_svg(report_of(plan, state, "d"));
  std::vector<double> at;
  for (const char* time : {"10", "20", "50"}) {
    const std::vector<double> places = places_of(svg, time);
    ASSERT_EQ(places.size(), 1u) << time << " in " << svg;
    at.push_back(places[0]);
  }
  EXPECT_TRUE(places_of(svg, "60").empty());
  EXPECT_NEAR((at[1] - at[0]) / std::log10(2.0), (at[2] - at[0]) / std::log10(5.0), 1);
  const std::string dot = "<circle cx=\"";
  EXPECT_NEAR(std::stod(svg.substr(svg.find(dot) + dot.size())), at[0], 1) << "the dot of 10 us";
}

// Returns the number after `name` in the first element of the picture that has `mark`, searching from `from`.
double number_in(const std::string& svg, const std::string& mark, const std::string& name, size_t from = 0) {
  const size_t at = svg.find(mark, from), number = svg.find(name + "=\"", at);
  return at == std::string::npos || number == std::string::npos ? NAN : std::stod(svg.substr(number + name.size() + 2));
}

TEST(Bench, APicturesLinesStandBelowEachOtherAndItsPanelsToo) {
  FakeDevice device({10, 40, 20});
  device.drift = 0;
  device.refuses[1] = Failure{Stage::input, "it has no such dtype", ""};
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"second", false}, {"peer", true}}, 2);
  BenchState state;
  run_bench(plan, device.calls(), state);
  BenchReport report = report_of(plan, state, "2026-11-21");
  for (Row& row : report.rows) {
    row.cells[0].p10 = 8;
    row.cells[0].p90 = 16;
  }
  const std::string svg = as_svg(report);
  const auto label_y = [&](const std::string& label, size_t from) {
    const size_t end = svg.find(">" + label + "</text>", from);
    return number_in(svg, "<text", "y", svg.rfind("<text", end));
  };
  const size_t second = svg.find(">B2 ");
  ASSERT_NE(second, std::string::npos);
  for (const size_t from : {size_t{0}, second}) {
    const double ours = label_y("ours", from), next = label_y("second", from), peer = label_y("peer", from);
    EXPECT_GT(next, ours + 13) << "a line's text is 13 high";
    EXPECT_NEAR(peer - next, next - ours, 0.2);
    const double dot = number_in(svg, "<circle", "cy", from);
    EXPECT_NEAR(dot, ours - 4, 0.2) << "the mark stands in the middle of its line's text";
    const size_t bar = svg.rfind("<rect", svg.find("height=\"8\"", from));
    EXPECT_NEAR(number_in(svg, "<rect", "y", bar), dot - 4, 0.2);
  }
  EXPECT_GT(label_y("ours", second), label_y("peer", 0) + 46) << "a panel has a head";
  // 8 to 16 us is a bar with 10 us inside it: its distance from the left end is the one that the logarithm gives.
  const size_t bar = svg.find("height=\"8\"");
  const double left = number_in(svg, "<rect", "x", svg.rfind("<rect", bar)), dot = number_in(svg, "<circle", "cx");
  const double width = number_in(svg, "<rect", "width", svg.rfind("<rect", bar));
  EXPECT_NEAR((dot - left) / width, std::log2(10.0 / 8), 0.01);
  EXPECT_GE(left, 190) << "right of the labels";
  EXPECT_LE(left + width, 660) << "left of the times";
  EXPECT_EQ(places_of(svg, "us").size(), 2u) << "each axis has its unit";
  EXPECT_THAT(svg, HasSubstr("it has no such dtype</text>"));
  const double height = number_in(svg, "<svg", "height");
  EXPECT_GT(height, label_y("peer", second) + 34);
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 960 "));
  EXPECT_THAT(svg, HasSubstr("fill=\"#b45f06\"")) << "a peer is orange";
}

TEST(Bench, AReportFromOutsideIsCheckedAtTheDoor) {
  FakeDevice device({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
  BenchState state;
  run_bench(plan, device.calls(), state);
  const Json good = to_json(report_of(plan, state, "d"));
  const auto refused = [&](const char* pointer, Json value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = std::move(value);
    auto read = report_from_json(bad, "r.json");
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(refused("/rows/0/cells/0/us/p50", 0), HasSubstr("r.json/rows/0/cells/0/us/p50"));
  EXPECT_THAT(refused("/rows/0/cells/0/ratios/0/peer", 7), HasSubstr("there is no entry 7"));
  EXPECT_THAT(refused("/rows/0/cells", Json::array()), HasSubstr("0 for 2 entries"));
  EXPECT_THAT(refused("/rows/0/cache", "warm"), HasSubstr("r.json/rows/0/cache"));
  EXPECT_THAT(refused("/attnscope_bench", 9), HasSubstr("attnscope_bench"));
  EXPECT_THAT(refused("/surprise", 1), HasSubstr("surprise"));
}

TunedEntry tuned(const std::string& kernel, double us, FigureKind kind) {
  TunedEntry entry;
  entry.kernel = kernel;
  entry.kernel_hash = "hash";
  entry.us = us;
  entry.kind = kind;
  entry.verdict = VerdictState::correct;
  entry.date = "2026-11-21";
  entry.config.knobs = {{"BLOCK_M", 16}};
  return entry;
}

TEST(Tuned, AMeasuredFigurePrecedesAModelledOne) {
  TunedTable table{"NVIDIA H200", 90, {}};
  EXPECT_TRUE(put_entry(table, tuned("a", 10, FigureKind::modelled)));
  EXPECT_TRUE(put_entry(table, tuned("b", 5, FigureKind::modelled)));
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", Problem{}, "")->kernel, "b");
  EXPECT_TRUE(put_entry(table, tuned("a", 12, FigureKind::measured)));
  EXPECT_FALSE(put_entry(table, tuned("a", 3, FigureKind::modelled)));
  EXPECT_EQ(table.entries.size(), 2u);
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", Problem{}, "")->kernel, "a");
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", Problem{}, "b")->us, 5);
  EXPECT_EQ(best_entry({table}, "NVIDIA L4", Problem{}, ""), nullptr);
  Problem other;
  other.seq_q = 513;
  EXPECT_EQ(best_entry({table}, "NVIDIA H200", other, ""), nullptr);
  other = Problem{};
  other.seed = 9;
  EXPECT_NE(best_entry({table}, "NVIDIA H200", other, ""), nullptr);
}

TEST(Tuned, ATableSurvivesItsJsonAndKeepsOnlyWhatIsCorrect) {
  const TunedTable table{"NVIDIA L4", 89, {tuned("a", 10, FigureKind::modelled)}};
  auto again = tuned_from_json(to_json(table), "t.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, table);
  Json wrong = to_json(table);
  wrong["entries"][0]["verdict"] = "wrong";
  EXPECT_FALSE(tuned_from_json(wrong, "t.json"));
  wrong = to_json(table);
  wrong["entries"][0]["config"]["knobs"]["BLOCK_M"] = "16; rm";
  EXPECT_FALSE(tuned_from_json(wrong, "t.json"));
}

TEST(Tuned, AFolderGivesItsTablesOrTheReasonOfTheFirstThatItCannotRead) {
  const testing_support::TempDir dir;
  TunedTable table{"NVIDIA L4", 89, {tuned("a", 10, FigureKind::modelled)}};
  const auto file = dir.write("b.json", to_json(table).dump());
  dir.write("notes.txt", "no table");
  auto tables = load_tuned(dir.path());
  ASSERT_TRUE(tables) << tables.error().message;
  table.entries[0].source = file.string();
  EXPECT_EQ(*tables, std::vector{table});
  for (const char* damaged : {"{", "{\"device\": 1}"}) {
    const auto first = dir.write("a.json", damaged);
    tables = load_tuned(dir.path());
    ASSERT_FALSE(tables) << damaged;
    EXPECT_EQ(tables.error().stage, Stage::input);
    EXPECT_THAT(tables.error().message, HasSubstr(first.string()));
  }
  const auto none = read_tuned(dir / "none.json");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().stage, Stage::input);
  EXPECT_THAT(none.error().message, HasSubstr("none.json"));
  tables = load_tuned(dir / "none");
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().stage, Stage::input);
  EXPECT_THAT(tables.error().message, HasSubstr("none: the folder of tuned tables cannot be read: No such file"));
}

TEST(Tuned, TheShippedTablesAreWhole) {
  auto tables = load_tuned(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets" / "tuned");
  ASSERT_TRUE(tables) << tables.error().message;
  for (const TunedTable& table : *tables) EXPECT_FALSE(table.entries.empty()) << table.device;
}

}  // namespace
}  // namespace attnscope::report
