// What a benchmark makes of the samples, the kinds and the failures of its runs, and what a stored state brings back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/json.h"
#include "fake_bench.h"

namespace attnscope::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BenchState run_of(const BenchPlan& plan, const BenchCalls& calls) {
  BenchState state;
  run_bench(plan, calls, state);
  return state;
}

// A plan with one entry whose every pass has these samples.
Cell cell_with(const measure::Rounds& rounds, int64_t passes = 12) {
  BenchPlan plan = plan_of(false, {{"ours", false}});
  plan.blocks = passes;
  FakeDevice device({50});
  BenchCalls calls = device.calls();
  calls.run = [&](size_t row, size_t entry) {
    Observation o = device.run(row, entry);
    o.timing->sampling->rounds = rounds;
    return o;
  };
  return report_of(plan, run_of(plan, calls), "d").rows[0].cells[0];
}

TEST(BenchSamples, TheFiguresAreOfAllSamplesOfAllPasses) {
  std::vector<double> hundred;
  for (int us = 100; us >= 0; --us) hundred.push_back(us + 1000);
  const Cell cell = cell_with({hundred});
  EXPECT_NEAR(cell.p10, 1010, 1) << "each stands there twelve times";
  EXPECT_NEAR(cell.p50, 1050, 1e-9);
  EXPECT_NEAR(cell.p90, 1090, 1);
  EXPECT_EQ(cell.samples, 12 * 101);
  EXPECT_NEAR(cell.tflops, Problem{}.flops() / 1050e6, 1e-9);
  ASSERT_TRUE(cell.interval);
  EXPECT_TRUE(cell.interval->contains(1050));
  EXPECT_LE(cell.interval->low, 1050 * (1 - measure::kBetweenRuns)) << "no narrower than separate runs are";
  EXPECT_GE(cell.interval->high, 1050 * (1 + measure::kBetweenRuns));
}

TEST(BenchSamples, ATimeWithoutSamplesIsNoTime) {
  for (const bool has_sampling : {true, false}) {
    FakeDevice device({50, 60});
    BenchCalls calls = device.calls();
    calls.run = [&](size_t row, size_t entry) {
      Observation o = device.run(row, entry);
      if (entry == 0) o.timing->sampling->rounds.clear();
      if (entry == 0 && !has_sampling) o.timing->sampling.reset();
      return o;
    };
    const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}});
    const BenchReport report = report_of(plan, run_of(plan, calls), "d");
    EXPECT_EQ(report.rows[0].cells[0].state, CellState::not_applicable);
    EXPECT_EQ(report.rows[0].cells[0].reason, "failed: it was timed without samples");
    EXPECT_EQ(report.rows[0].cells[1].state, CellState::timed);
    EXPECT_EQ(device.asked.size(), 2u + 2 + 11) << "it comes no third time";
  }
}

TEST(BenchSamples, TimesOfDifferentKindsAreNotCompared) {
  FakeDevice device({50, 60, 70, 80});
  BenchCalls calls = device.calls();
  calls.run = [&](size_t row, size_t entry) {
    Observation o = device.run(row, entry);
    if (entry < 2) o.timing->kind = FigureKind::modelled;
    return o;
  };
  const BenchPlan plan = plan_of(false, {{"a", false}, {"b", true}, {"c", false}, {"d", true}});
  const BenchReport report = report_of(plan, run_of(plan, calls), "d");
  const auto& cells = report.rows[0].cells;
  for (size_t of = 0; of < 4; ++of)
    for (size_t peer = 0; peer < 4; ++peer) {
      const bool same_kind = (of < 2) == (peer < 2);
      EXPECT_EQ(ratio_to(cells[of], peer) != nullptr, same_kind && of != peer && peer % 2 == 1) << of << " to " << peer;
    }
  EXPECT_FALSE(ratio_to(cells[0], 1)->interval);
  EXPECT_TRUE(ratio_to(cells[2], 3)->interval);
}

// A baseline has ratios as a peer has, and is none.
TEST(BenchSamples, ABaselineOfOursIsComparedWith) {
  FakeDevice device({50, 65, 100});
  device.drift = 0;
  BenchPlan plan = plan_of(false, {{"ours", false}, {"base", false}, {"other", false}});
  plan.head.entries[1].baseline = true;
  const BenchReport report = report_of(plan, run_of(plan, device.calls()), "d");
  const auto& cells = report.rows[0].cells;
  EXPECT_EQ(baseline_of(report), 1u);
  ASSERT_EQ(cells[0].ratios.size(), 1u);
  EXPECT_NEAR(ratio_to(cells[0], 1)->ratio, 1.3, 0.001);
  EXPECT_NEAR(ratio_to(cells[2], 1)->ratio, 0.65, 0.001);
  EXPECT_TRUE(cells[1].ratios.empty());
  EXPECT_FALSE(best_peer(report, report.rows[0]));
  plan.head.entries[1].baseline = false;
  EXPECT_EQ(baseline_of(report_of(plan, run_of(plan, device.calls()), "d")), std::nullopt);
}

TEST(BenchSamples, OfPeersThatAreEquallyFastTheFirstIsTheBest) {
  BenchReport report = plan_of(false, {{"ours", false}, {"a", true}, {"b", true}}).head;
  for (Cell& cell : report.rows[0].cells) cell.state = CellState::timed, cell.p50 = 10;
  EXPECT_EQ(best_peer(report, report.rows[0]), 1u);
  report.rows[0].cells[2].p50 = 9;
  EXPECT_EQ(best_peer(report, report.rows[0]), 2u);
  report.rows[0].cells[2].state = CellState::wrong;
  EXPECT_EQ(best_peer(report, report.rows[0]), 1u);
}

TEST(BenchSamples, AReportSaysHowItWasTimed) {
  for (const bool emulated : {false, true}) {
    BenchPlan plan = plan_of(emulated, {{"ours", false}});
    plan.blocks = 11;
    plan.block_ms = 70;
    FakeDevice device({50}, emulated);
    const BenchReport report = report_of(plan, run_of(plan, device.calls()), "today");
    EXPECT_EQ(report.blocks, emulated ? 0 : 11);
    EXPECT_EQ(report.block_ms, emulated ? 0 : 70);
    EXPECT_EQ(report.date, "today");
    EXPECT_EQ(device.asked.size(), emulated ? 1u : 12u);
  }
}

// Wrong and correct outputs keep their errors; agreement with another kernel is no proof, and so is unchecked.
TEST(BenchSamples, ACellHasTheErrorsOfItsVerdict) {
  const auto cell = [](VerdictState state, bool against) {
    FakeDevice device({50}, true);
    BenchCalls calls = device.calls();
    calls.run = [&](size_t row, size_t entry) {
      Observation o = device.run(row, entry);
      o.verdict->state = state;
      o.verdict->max_abs = 1, o.verdict->rel_frobenius = 2, o.verdict->atol = 3, o.verdict->rtol = 4;
      o.verdict->outside_share = 0.5;
      if (against) o.verdict->against = "tiled";
      return o;
    };
    const BenchPlan plan = plan_of(true, {{"ours", false}});
    return report_of(plan, run_of(plan, calls), "d").rows[0].cells[0];
  };
  for (const VerdictState state : {VerdictState::correct, VerdictState::wrong}) {
    const Cell of = cell(state, false);
    EXPECT_EQ(of.verdict, state);
    EXPECT_EQ(of.error, (CellError{1, 2, 3, 4, 0.5}));
    EXPECT_EQ(of.state, state == VerdictState::wrong ? CellState::wrong : CellState::timed);
  }
  EXPECT_EQ(cell(VerdictState::correct, true).verdict, VerdictState::unchecked);
  EXPECT_EQ(cell(VerdictState::correct, true).state, CellState::timed);
  EXPECT_FALSE(cell(VerdictState::correct, true).error);
  EXPECT_FALSE(cell(VerdictState::unchecked, false).error);
  EXPECT_EQ(cell(VerdictState::wrong, true).state, CellState::wrong);
}

TEST(BenchSamples, AnErrorWithoutEndStaysOneInAFile) {
  BenchReport report = plan_of(true, {{"ours", false}, {"other", false}}).head;
  report.rows[0].cells[0].error = CellError{std::numeric_limits<double>::infinity(), 1e308, 1e-3, 1e-3, 1};
  const Json json = to_json(report);
  EXPECT_FALSE(json.at("rows")[0].at("cells")[1].contains("error")) << "what was not checked has none";
  const auto again = report_from_json(json, "r");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, report);
}

TEST(BenchSamples, ProgressCountsOnlyTheRunsThatCome) {
  FakeDevice device({50, 60, 400000, 70});
  device.refuses[1] = Failure{Stage::limits, "too large", ""};
  BenchCalls calls = device.calls();
  calls.now_seconds = [&] { return 1000 + 2.0 * double(device.asked.size()); };  // two seconds a run
  std::vector<BenchProgress> told;
  calls.on_progress = [&](const BenchProgress& progress) { told.push_back(progress); };
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"big", false}, {"slow", false}, {"peer", true}});
  run_of(plan, calls);
  ASSERT_EQ(told.size(), 4u + 2 * 12);
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].done, int64_t(i));
    EXPECT_EQ(told[i].total, i < 4 ? 4 * 13 : 4 + 2 * 12) << "after the first pass it knows who comes again";
    EXPECT_EQ(told[i].row, 0u);
    EXPECT_EQ(told[i].left_seconds.has_value(), i > 0);
    if (i > 0) {
      EXPECT_NEAR(*told[i].left_seconds, 2 * double(told[i].total - told[i].done), 1e-6) << i;
    }
  }
  EXPECT_THAT((std::vector{told[0].entry, told[1].entry, told[2].entry, told[3].entry}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT((std::vector{told[4].entry, told[5].entry, told[6].entry, told[7].entry}), ElementsAre(3, 0, 0, 3));
}

// A modelled benchmark is done after one pass, and says so.
TEST(BenchSamples, ProgressOfAModelledBenchmark) {
  FakeDevice device({50, 60}, true);
  BenchCalls calls = device.calls();
  std::vector<int64_t> totals;
  calls.on_progress = [&](const BenchProgress& progress) { totals.push_back(progress.total); };
  run_of(plan_of(true, {{"ours", false}, {"peer", true}}, 3), calls);
  EXPECT_THAT(totals, ElementsAre(6, 6, 6, 6, 6, 6));
}

TEST(BenchSamples, AStoredStateGivesTheSameReportAfterEveryPass) {
  FakeDevice device({50, 60, 400000, 70});
  device.refuses[3] = Failure{Stage::input, "no such dtype", ""};
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}, {"slow", false}, {"none", false}}, 2);
  std::vector<BenchState> saved;
  run_of(plan, device.calls(&saved));
  ASSERT_EQ(saved.size(), 26u);
  for (const BenchState& state : saved) {
    const auto again = state_from_json(to_json(state), plan, "state.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->passes, state.passes);
    EXPECT_EQ(report_of(plan, *again, "d"), report_of(plan, state, "d"));
  }
  const BenchReport early = report_of(plan, saved[0], "d");
  EXPECT_THAT(early.rows[1].cells[3].reason, HasSubstr("ended before it"));
  EXPECT_EQ(early.rows[0].cells[3].reason, "no such dtype");
}

TEST(BenchSamples, AStateOfOtherRowsOrEntriesIsIgnored) {
  FakeDevice device({50, 60});
  const BenchPlan plan = plan_of(false, {{"ours", false}, {"peer", true}}, 2);
  const Json good = to_json(run_of(plan, device.calls()));
  ASSERT_TRUE(state_from_json(good, plan, "s.json"));
  const auto why = [&](const Json& json) {
    const auto read = state_from_json(json, plan, "s.json");
    if (read) return std::string("taken");
    EXPECT_EQ(read.error().stage, Stage::input);
    EXPECT_EQ(read.error().hint, "It is ignored, and the benchmark starts again.");
    return read.error().message;
  };
  const std::string other = "s.json: does not have this benchmark's rows and entries";
  for (const char* place : {"/passes", "/blocks", "/blocks/0", "/blocks/1", "/first/rows"}) {
    const Json::json_pointer at(place);
    Json more = good, less = good;
    more[at].push_back(more[at].back());
    less[at].erase(less[at].size() - 1);
    EXPECT_EQ(why(more), other) << place;
    EXPECT_EQ(why(less), other) << place;
  }
  Json foreign = good;
  foreign["plan"] = "another";
  EXPECT_EQ(why(foreign), "s.json: is the state of another benchmark");
  const std::pair<const char*, Json> faults[] = {
      {"/passes/0", -1}, {"/passes/0", 1000000001}, {"/attnscope_bench_state", 0}, {"/attnscope_bench_state", 2}};
  for (const auto& [place, value] : faults) {
    Json bad = good;
    bad[Json::json_pointer(place)] = value;
    EXPECT_THAT(why(bad), HasSubstr(place));
  }
  for (const char* key : {"plan", "passes", "first", "blocks"}) {
    Json lacks = good;
    lacks.erase(key);
    EXPECT_THAT(why(lacks), HasSubstr(key));
  }
}

}  // namespace
}  // namespace attnscope::report
