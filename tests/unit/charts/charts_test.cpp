#include <gtest/gtest.h>

#include <limits>

#include "charts/format.h"
#include "charts/latency_chart.h"
#include "charts/memory_stack.h"
#include "charts/tables.h"

namespace attnscope::charts {
namespace {

TEST(Format, SaysFiguresInTheFieldsWay) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(36928), "36,928");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(us_text(839.38), "839.4 \u00b5s");
  EXPECT_EQ(us_text(2870), "2,870 \u00b5s");
  EXPECT_EQ(us_text(5.49), "5.49 \u00b5s");
  EXPECT_EQ(us_text(51000), "51.00 ms");
  EXPECT_EQ(terminal_us(5.494), "5.49");
  EXPECT_EQ(terminal_us(839.38), "839.38");
  EXPECT_EQ(terminal_us(51000), "51000.00");
  EXPECT_EQ(kib_text(49152), "48 KB");
  EXPECT_EQ(kib_text(36896), "36 KB");
  EXPECT_EQ(kib_text(540672 * 32), "16.5 MB");
  EXPECT_EQ(percent_text(1.0 / 3), "33.3 %");
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(signed_percent_text(-0.184), "\u221218.4 %");
  EXPECT_EQ(signed_percent_text(0.0001), "\u00b10 %");
  EXPECT_EQ(error_text(2.08e-4), "2.08e-4");
  EXPECT_EQ(error_text(1e-3), "1e-3");
  EXPECT_EQ(error_text(0), "0");
  EXPECT_EQ(error_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(error_text(-std::numeric_limits<double>::infinity()), "\u2212Inf");
  EXPECT_EQ(count_text(12400), "12.4 k");
  EXPECT_EQ(count_text(812), "812");
}

TEST(Format, AnotherDayIsNamedByItsDate) {
  const double noon = 1763812800;  // 22 November 2025, 12:00 UTC
  EXPECT_EQ(when_text(noon, noon + 60), clock_text(noon));
  EXPECT_EQ(when_text(noon - 86400 * 3, noon), "19 Nov");
  EXPECT_EQ(when_text(noon - 86400 * 365, noon), "22 Nov 2024");
}

Run run(uint64_t id, double us, FigureKind kind = FigureKind::modelled, const std::string& device = "emulated:l4") {
  auto seen = std::make_shared<Observation>();
  seen->experiment.device = device;
  seen->versions.app = "0.1.0";
  Timing timing;
  timing.kind = kind;
  timing.p10 = us * 0.98;
  timing.p50 = us;
  timing.p90 = us * 1.02;
  timing.interval_low = us * 0.99;
  timing.interval_high = us * 1.01;
  seen->timing = timing;
  return {id, seen, "NUM_WARPS 4 \u2192 8", "NUM_WARPS=8"};
}

TEST(LatencyChart, ARunIsComparedWithOneOfItsKindAndDevice) {
  LatencyChart chart;
  const std::vector<charts::Run> runs = {run(1, 1000), run(2, 900, FigureKind::measured, "cuda:0"), run(3, 800),
                                         run(4, 700, FigureKind::modelled, "emulated:h200")};
  append(chart, runs);
  EXPECT_EQ(delta_of(chart, 2)->run, 1u);
  EXPECT_EQ(chart.column_of(3), 2u);
  EXPECT_EQ(chart.column_of(5), std::nullopt);
}

TEST(LatencyChart, AppendingIsTheSameAsMakingItAtOnce) {
  const std::vector<charts::Run> runs = {run(1, 1000), run(2, 900), run(3, 800)};
  LatencyChart whole, grown;
  append(whole, runs);
  append(grown, std::span(runs).first(1));
  append(grown, std::span(runs).subspan(1));
  ASSERT_EQ(grown.columns.size(), whole.columns.size());
  for (size_t at = 0; at < 3; ++at) EXPECT_EQ(grown.columns[at].x, static_cast<int>(at));
}

TEST(LatencyChart, AFailedRunIsAFailedColumn) {
  auto seen = std::make_shared<Observation>();
  seen->failure = Failure{Stage::deadline, "no progress", ""};
  LatencyChart chart;
  const std::vector<charts::Run> runs = {run(1, 1000), {2, seen, "", ""}};
  append(chart, runs);
  EXPECT_EQ(chart.columns[1].state, ColumnState::failed);
  EXPECT_EQ(chart.columns[1].failure, "deadline");
  EXPECT_FALSE(delta_of(chart, 1));
}

TEST(LatencyChart, MeasuredFiguresWhoseIntervalsOverlapAreATie) {
  LatencyChart chart;
  const std::vector<charts::Run> runs = {run(1, 1000, FigureKind::measured),
                                         run(2, 1005, FigureKind::measured),
                                         run(3, 800, FigureKind::measured),
                                         run(4, 1000),
                                         run(5, 1005),
                                         run(6, 2000)};
  append(chart, runs);
  const auto standing = [&](size_t a, size_t b) {
    return standing_of(*chart.columns[a].observation, *chart.columns[b].observation);
  };
  EXPECT_EQ(standing(0, 1).outcome, Outcome::tie);
  EXPECT_EQ(standing(0, 2).outcome, Outcome::faster);
  EXPECT_EQ(change_text(standing(0, 2)), "\u221220.0 %");
  EXPECT_EQ(standing(3, 4).outcome, Outcome::tie) << "modelled: within the bar of their ratio";
  EXPECT_EQ(standing(3, 5).outcome, Outcome::slower);
}

TEST(LatencyChart, ADeltaNamesTheRunThatItIsAgainst) {
  const auto of_kernel = [](charts::Run run, const std::string& kernel) {
    auto seen = std::make_shared<Observation>(*run.observation);
    seen->experiment.kernel = kernel;
    run.observation = seen;
    return run;
  };
  LatencyChart chart;
  const std::vector<charts::Run> runs = {of_kernel(run(4, 1000), "tiled"), of_kernel(run(5, 500), "tiled"),
                                         of_kernel(run(9, 90), "mma")};
  append(chart, runs);
  EXPECT_FALSE(delta_of(chart, 0));
  const Delta same_kernel = *delta_of(chart, 1);
  EXPECT_EQ(same_kernel.text, "\u221250.0 %");
  EXPECT_EQ(same_kernel.against, "against run 4");
  EXPECT_EQ(better(same_kernel.standing), 1);
  EXPECT_THAT(same_kernel.detail, testing::ContainsRegex("ratio: \u2212.* % to \u2212.* %"))
      << "what tells them apart, since their own bars may overlap";
  EXPECT_EQ(delta_of(chart, 2)->against, "against run 5, tiled");
}

TEST(LatencyChart, ADeltaIsBetterWorseOrNeither) {
  const auto sign = [](double before, double after, FigureKind kind) {
    LatencyChart chart;
    const std::vector<charts::Run> runs = {run(1, before, kind), run(2, after, kind)};
    append(chart, runs);
    return better(delta_of(chart, 1)->standing);
  };
  EXPECT_EQ(sign(1000, 500, FigureKind::modelled), 1);
  EXPECT_EQ(sign(1000, 2000, FigureKind::modelled), -1);
  EXPECT_EQ(sign(1000, 1010, FigureKind::modelled), 0) << "cannot be told apart";
  EXPECT_EQ(sign(1000, 1000, FigureKind::modelled), 0);
  EXPECT_EQ(sign(1000, 1000.01, FigureKind::modelled), 0) << "both read 1,000";
  EXPECT_EQ(sign(1000, 1005, FigureKind::measured), 0) << "a tie";
  EXPECT_EQ(sign(1000, 800, FigureKind::measured), 1);
}

TEST(LatencyChart, ADeltaBetweenUnlikeRunsSaysWhatDiffers) {
  const auto changed = [](charts::Run run, auto change) {
    auto seen = std::make_shared<Observation>(*run.observation);
    change(*seen);
    run.observation = seen;
    return run;
  };
  const auto delta = [](const charts::Run& before, const charts::Run& after) {
    LatencyChart chart;
    const std::vector<charts::Run> runs = {before, after};
    append(chart, runs);
    return delta_of(chart, 1).value();
  };
  const charts::Run plain = run(1, 1000);
  const auto expect = [&](const charts::Run& other, Unlike unlike, const std::string& words,
                          const std::string& detail) {
    const Delta found = delta(plain, other);
    EXPECT_EQ(found.standing.unlike, unlike);
    EXPECT_EQ(found.text, "not comparable");
    EXPECT_EQ(found.against, "with run 1: " + words);
    EXPECT_EQ(found.detail, detail);
    EXPECT_EQ(better(found.standing), 0);
  };
  expect(changed(run(2, 10), [](Observation& o) { o.experiment.problem.kind = ProblemKind::gemm; }), Unlike::operation,
         "another operation", "attention against gemm");
  expect(changed(run(2, 10),
                 [](Observation& o) {
                   o.experiment.problem.seq_q = o.experiment.problem.seq_k = 4096;
                   o.experiment.problem.causal = Causal::bottom_right;
                 }),
         Unlike::problem, "another problem", "B1 H8 S512 D64 against B1 H8 S4096 D64 causal");
  expect(changed(run(2, 10), [](Observation& o) { o.experiment.problem.dtype = DType::bf16; }), Unlike::problem,
         "another problem", "B1 H8 S512 D64 with another type, layout or inputs");
  expect(run(2, 10, FigureKind::modelled, "emulated:h200"), Unlike::device, "another device",
         "emulated:l4 against emulated:h200");
  expect(run(2, 10, FigureKind::measured), Unlike::kind, "another kind of figure", "modelled against measured");
  expect(changed(run(2, 10), [](Observation& o) { o.versions.app = "0.2.0"; }), Unlike::version,
         "another version's model", "attnscope 0.1.0 against attnscope 0.2.0");
  // The last comparable run counts, even if an incomparable run lies between.
  LatencyChart chart;
  const std::vector<charts::Run> runs = {plain, run(2, 10, FigureKind::measured), run(3, 900)};
  append(chart, runs);
  EXPECT_EQ(delta_of(chart, 2)->against, "against run 1");
}

// A measured time depends on the device, not on the program version that measured it.
TEST(LatencyChart, AVersionMattersToAModelOnly) {
  const auto of_version = [](charts::Run run, const std::string& version) {
    auto seen = std::make_shared<Observation>(*run.observation);
    seen->versions.app = version;
    return seen;
  };
  for (const auto& [kind, unlike] :
       {std::pair{FigureKind::measured, Unlike::none}, {FigureKind::modelled, Unlike::version}})
    EXPECT_EQ(comparable(*of_version(run(1, 1000, kind), "0.1.0"), *of_version(run(2, 900, kind), "0.2.0")), unlike);
}

TEST(LatencyChart, AxesEndAtRoundFigures) {
  EXPECT_DOUBLE_EQ(nice_top(839), 1000);
  EXPECT_DOUBLE_EQ(nice_top(1000), 1000);
  EXPECT_DOUBLE_EQ(nice_top(1001), 1250);
  EXPECT_DOUBLE_EQ(nice_top(0), 1);
  EXPECT_DOUBLE_EQ(nice_top(std::numeric_limits<double>::quiet_NaN()), 1);
}

DeviceSpec l4() {
  DeviceSpec spec;
  spec.name = "NVIDIA L4";
  spec.shared_static_block = 49152;
  spec.shared_optin_block = 101376;
  spec.shared_sm = 102400;
  spec.shared_reserved_block = 1024;
  spec.warps_sm = 48;
  return spec;
}

VariantInfo variant() {
  VariantInfo made;
  made.registers = 64;
  made.static_shared_bytes = 36928;
  made.shared_buffers = {{"Q_tile", 4096, false},
                         {"K_tile", 8192, false},
                         {"V_tile", 8192, false},
                         {"S_tile", 8192, false},
                         {"O_tile", 8192, false}};
  return made;
}

TEST(MemoryStack, BuffersAreStackedLargestFirstAndTheRestIsPadding) {
  const MemoryStack stack = memory_stack(variant(), nullptr, l4());
  EXPECT_EQ(stack.total_bytes, 36928);
  ASSERT_EQ(stack.segments.size(), 6u);
  EXPECT_EQ(stack.segments[0].name, "K_tile");
  EXPECT_EQ(stack.segments[4].name, "Q_tile");
  EXPECT_TRUE(stack.segments[5].padding);
  EXPECT_EQ(stack.segments[5].bytes(), 64);
  for (size_t at = 1; at < stack.segments.size(); ++at) EXPECT_EQ(stack.segments[at].begin, stack.segments[at - 1].end);
  ASSERT_EQ(stack.marks.size(), 3u);
  EXPECT_EQ(stack.marks[0].label, "48 KB static");
  EXPECT_EQ(stack.scale_bytes, 102400);
  EXPECT_FALSE(stack.over_static);
}

TEST(MemoryStack, WhatIsOverItsLimitSaysSo) {
  VariantInfo big = variant();
  big.static_shared_bytes = 57376;
  EXPECT_TRUE(memory_stack(big, nullptr, l4()).over_static);
  EXPECT_FALSE(memory_stack(big, nullptr, l4()).over_optin);
  big.static_shared_bytes = 0;
  big.shared_buffers.clear();
  big.dynamic_shared_bytes = 147456;
  const MemoryStack stack = memory_stack(big, nullptr, l4());
  EXPECT_TRUE(stack.over_optin);
  EXPECT_EQ(stack.segments[0].name, "unnamed");
  EXPECT_EQ(stack.scale_bytes, 147456);
}

TEST(MemoryStack, MarksStandInTheOrderOfTheirBytesAndAnUnknownLimitHasNone) {
  DeviceSpec odd = l4();
  odd.shared_static_block = 65536;
  odd.shared_optin_block = 49152;
  odd.shared_sm = 16384;
  const MemoryStack stack = memory_stack(variant(), nullptr, odd);
  ASSERT_EQ(stack.marks.size(), 3u);
  EXPECT_EQ(stack.marks[0].label, "16 KB SM");
  EXPECT_EQ(stack.marks[1].label, "48 KB opt-in");
  EXPECT_EQ(stack.marks[2].label, "64 KB static");
  odd.shared_static_block = odd.shared_optin_block = odd.shared_sm = 0;
  const MemoryStack unknown = memory_stack(variant(), nullptr, odd);
  EXPECT_TRUE(unknown.marks.empty());
  EXPECT_FALSE(unknown.over_static);
  EXPECT_FALSE(unknown.over_optin);
}

TEST(MemoryStack, OccupancyInASentence) {
  Occupancy occupancy;
  occupancy.ctas_per_sm = 2;
  occupancy.warps_per_sm = 16;
  occupancy.limiter = Limiter::shared_memory;
  occupancy.total_ctas = 128;
  occupancy.resident_ctas = 116;
  occupancy.waves = 128.0 / 116;
  occupancy.tail_ctas = 12;
  EXPECT_EQ(limiter_sentence(variant(), occupancy, l4()),
            "Shared memory limits it: 2 CTAs take 75,904 of 102,400 B, one more does not fit.");
  EXPECT_EQ(waves_sentence(occupancy), "128 CTAs for 116 places: 1.10 waves, 12 CTAs left for the last.");
  occupancy.total_ctas = 88;
  EXPECT_EQ(waves_sentence(occupancy), "88 CTAs for 116 places: one wave, 28 of them empty.");
}

TEST(Tables, AVerdictShowsEveryFigureAndMarksWhatBreaksItsLimit) {
  Verdict verdict;
  verdict.rel_frobenius = std::numeric_limits<double>::quiet_NaN();
  verdict.rel_frobenius_limit = 1e-3;
  verdict.naive_rel_frobenius = 5e-4;  // only attention has it
  verdict.nonfinite = 3;
  const auto rows = verdict_rows(verdict);
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_TRUE(rows[0].bad);  // NaN is outside every limit
  EXPECT_EQ(rows[0].value, "NaN");
  size_t bad = 0;
  for (const FigureRow& row : rows) bad += row.bad ? 1 : 0;
  EXPECT_EQ(bad, 2u);
}

TEST(Tables, CountersSayTheirShare) {
  Counters counters;
  counters.instructions = {{"total", 1000}, {"memory", 250}, {"float", 750}};
  counters.emulated_ctas = 43;
  counters.total_ctas = 128;
  EXPECT_EQ(counter_share_text(counters), "sampled: 43 of 128 CTAs (33.6 %)");
  counters.emulated_ctas = 128;
  EXPECT_EQ(counter_share_text(counters), "exact, all 128 CTAs");
  const auto groups = counter_groups(counters);
  EXPECT_EQ(groups[0].rows[0].value, "1,000");
  EXPECT_EQ(groups[0].rows[1].name, "float");
  EXPECT_EQ(groups[0].rows[1].note, "75.0 %");
}

TEST(Tables, FiguresOfDifferentKindsHaveNoRatio) {
  const Observation modelled = *run(1, 1000).observation, measured = *run(2, 900, FigureKind::measured).observation;
  const ComparedRow row = compare(modelled, measured).front();
  EXPECT_EQ(row.change, "not comparable");
  EXPECT_EQ(row.better, 0);
  EXPECT_EQ(compare(modelled, *run(3, 500).observation).front().change, "\u221250.0 %");
}

TEST(Tables, ARaceIsNoCorrectOutput) {
  auto sound = std::make_shared<Observation>(*run(1, 1000).observation);
  sound->verdict = Verdict{};
  sound->verdict->state = VerdictState::correct;
  auto racy = std::make_shared<Observation>(*sound);
  racy->watch = WatchReport{};
  racy->watch->findings.push_back({RuleId::race_shared, Severity::error, "", {}, {}, {}, {}});
  const ComparedRow row = compare(*sound, *racy)[1];
  EXPECT_EQ(row.name, "verdict");
  EXPECT_EQ(row.before, "correct");
  EXPECT_EQ(row.after, "race");
  EXPECT_EQ(row.better, -1);
  EXPECT_EQ(compare(*racy, *sound)[1].better, 1);
  LatencyChart chart;
  const std::vector<charts::Run> runs{{1, sound, "", ""}, {2, racy, "", ""}};
  append(chart, runs);
  EXPECT_EQ(chart.columns[0].headline, Headline::correct);
  EXPECT_EQ(chart.columns[1].headline, Headline::race);
}

TEST(Tables, RunsOfAnotherProblemHaveNoBetterAndNoWorse) {
  Observation attention = *run(1, 1000).observation, gemm = *run(2, 10).observation;
  attention.variant = VariantInfo{};
  attention.variant->registers = 128;
  gemm.variant = VariantInfo{};
  gemm.variant->registers = 64;
  gemm.experiment.problem.kind = ProblemKind::gemm;
  EXPECT_EQ(compare(attention, gemm).front().change, "not comparable");
  for (const ComparedRow& row : compare(attention, gemm)) {
    EXPECT_EQ(row.better, 0) << row.name;
    EXPECT_EQ(row.change.find('%'), std::string::npos) << row.name;
  }
  gemm.experiment.problem = attention.experiment.problem;
  EXPECT_EQ(compare(attention, gemm).front().change, "\u221299.0 %");
}

TEST(SpreadLabels, NeverTouchAndStayNearTheirLines) {
  const std::vector<float> apart = {100, 50};
  EXPECT_EQ(spread_labels(apart, 12, 0, 200), (std::vector<float>{100, 50}));
  const std::vector<float> close = {100, 104, 96};  // of three overlapping ones the middle one stays
  EXPECT_EQ(spread_labels(close, 12, 0, 200), (std::vector<float>{100, 112, 88}));
  const std::vector<float> at_the_end = {195, 199};
  EXPECT_EQ(spread_labels(at_the_end, 12, 0, 200), (std::vector<float>{176, 188}));
  const std::vector<float> crowded = {4, 4, 4};
  EXPECT_EQ(spread_labels(crowded, 12, 0, 20), (std::vector<float>{0, 12, 24}));  // no room: from the top on
}

TEST(LatencyChart, SamplesAreKeptInTheOrderTakenAndThinnedEvenly) {
  auto seen = std::make_shared<Observation>();
  seen->timing = Timing{};
  seen->timing->kind = FigureKind::measured;
  seen->timing->sampling = Sampling{};
  seen->timing->sampling->rounds = {{1, 2, 3}, {4}};
  LatencyChart chart;
  append(chart, std::vector<charts::Run>{{1, seen, "", ""}});
  EXPECT_EQ(chart.columns[0].samples, (std::vector<float>{1, 2, 3, 4}));
  std::vector<double> many(10000);
  for (size_t at = 0; at < many.size(); ++at) many[at] = static_cast<double>(at);
  auto long_one = std::make_shared<Observation>(*seen);
  long_one->timing->sampling->rounds = {many};
  append(chart, std::vector<charts::Run>{{2, long_one, "", ""}});
  ASSERT_EQ(chart.columns[1].samples.size(), kMostSamples);
  EXPECT_EQ(chart.columns[1].samples.front(), 0);
  EXPECT_GT(chart.columns[1].samples.back(), 9900);
}

}  // namespace
}  // namespace attnscope::charts
