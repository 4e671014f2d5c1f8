#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/command_words.h"
#include "core/escape.h"
#include "report/bench_report.h"
#include "report/bench_run.h"

namespace attnscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportText, TimesHaveThreeDigits) {
  const std::pair<double, const char*> kTimes[] = {
      {0.0049, "0.00"}, {0.5, "0.50"}, {4.786, "4.79"},  {9.994, "9.99"},   {10, "10.0"},          {51.14, "51.1"},
      {99.94, "99.9"},  {100, "100"},  {999.5, "1,000"}, {1191.4, "1,191"}, {1234567, "1,234,567"}};
  for (const auto& [us, text] : kTimes) EXPECT_EQ(us_text(us), text);
}

TEST(ReportText, ARatioSaysItsIntervalOrWhyItHasNone) {
  EXPECT_EQ(ratio_text({0, 1.31, std::nullopt}, FigureKind::modelled), "1.31x, modelled");
  EXPECT_EQ(ratio_text({0, 0.0021, std::nullopt}, FigureKind::measured), "0.0021x, one pass");
  EXPECT_EQ(ratio_text({0, 1.31, measure::Interval{1.29, 1.33}}, FigureKind::measured), "1.31x (1.29 to 1.33)");
  EXPECT_EQ(ratio_text({0, 1.0021, measure::Interval{0.9982, 1.0058}}, FigureKind::measured),
            "tie, 1.002x (0.998 to 1.006)");
  EXPECT_EQ(ratio_text({0, 2.005, measure::Interval{2.004, 2.006}}, FigureKind::measured), "2.005x (2.004 to 2.006)");
}

// Half a percent of the ratio decides, whatever the ratio.
TEST(ReportText, ANarrowIntervalHasOneMoreDigit) {
  for (const double ratio : {0.25, 1.0, 8.0})
    for (const double share : {0.0048, 0.0052}) {
      const Ratio of{0, ratio, measure::Interval{ratio * (1 - share), ratio * (1 + share)}};
      const std::string text = ratio_text(of, FigureKind::measured);
      const size_t point = text.rfind('.');
      EXPECT_EQ(text.size() - point, share < 0.005 ? 5u : 4u) << text << ": digits and a bracket";
    }
}

TEST(ReportText, AProblemNamesWhatIsNotUsual) {
  Problem problem;
  EXPECT_EQ(problem_text(problem), short_text(problem));
  problem.dtype = DType::bf16;
  problem.layout = Layout::BSHD;
  EXPECT_EQ(problem_text(problem), short_text(problem) + " bf16 BSHD");
}

// Ours twice and two peers; cells in every state.
BenchReport report_of() {
  BenchReport report;
  report.device = "cuda:0";
  report.device_name = "NVIDIA L4";
  report.versions.app = "0.1.0";
  report.versions.nvrtc = "12.8";
  report.versions.driver = "580";
  report.blocks = 12;
  report.block_ms = 100;
  report.date = "today";
  report.entries = {{"tiled", "tiled", "h", false, "cuda:0", ""},
                    {"mma", "mma", "h", false, "cuda:0", ""},
                    {"flash", "torch", "h", true, "torch/cuda:0", "2.9"},
                    {"math", "torch", "h", true, "torch/cuda:0", "2.9"}};
  Row& row = report.rows.emplace_back();
  row.cells.resize(4);
  const double us[] = {40, 0, 20, 80};
  for (const size_t i : {0, 2, 3}) {
    Cell& cell = row.cells[i];
    cell.state = CellState::timed;
    cell.kind = FigureKind::measured;
    cell.p10 = us[i] * 0.9, cell.p50 = us[i], cell.p90 = us[i] * 1.1;
    cell.tflops = 3.14159;
    cell.verdict = VerdictState::correct;
  }
  row.cells[0].interval = measure::Interval{39, 41};
  row.cells[0].ratios = {{2, 0.5, measure::Interval{0.49, 0.51}}, {3, 2, std::nullopt}};
  row.cells[1].reason = "does not fit: it asks too much";
  return report;
}

TEST(ReportText, TheTableHasALinePerEntryAndAColumnPerTimedPeer) {
  BenchReport report = report_of();
  EXPECT_EQ(
      as_table(report),
      problem_text(Problem{}) +
          ", hot, measured on NVIDIA L4 (cuda:0); us\n"
          "          p10   p50   p90   95 % of p50  TFLOP/s              vs flash       vs math  verdict\n"
          "  tiled  36.0  40.0  44.0  39.0 to 41.0     3.14  0.50x (0.49 to 0.51)  2x, one pass  correct\n"
          "  mma    not applicable: does not fit: it asks too much\n"
          "  flash  18.0  20.0  22.0      one pass     3.14                                      correct\n"
          "  math   72.0  80.0  88.0      one pass     3.14                                      correct\n"
          "\n"
          "attnscope 0.1.0, NVRTC 12.8, driver 580, 12 passes in turn over all entries of a row, 100 ms each, today; "
          "torch: 2.9\n");
  report.rows[0].cells[3].state = CellState::wrong;
  report.rows[0].cells[3].reason = "NaN";
  EXPECT_THAT(as_table(report), Not(HasSubstr("vs math")));
  EXPECT_THAT(as_table(report), HasSubstr("wrong: NaN"));
}

TEST(ReportText, AConfigThatIsNotTunedForItsProblemIsSaid) {
  BenchReport report = report_of();
  Row& row = report.rows[0];
  EXPECT_TRUE(config_notes(report, row).empty()) << "an earlier version did not say";
  for (Cell& cell : row.cells) cell.config_from = ConfigFrom::tuned;
  EXPECT_TRUE(config_notes(report, row).empty());
  row.cells[0].config_from = row.cells[1].config_from = ConfigFrom::nearest;
  row.cells[0].tuned_for = row.cells[1].tuned_for = problem_from_text("S=4096,D=128").value();
  row.cells[2].config_from = ConfigFrom::untuned;
  const auto notes = config_notes(report, row);
  ASSERT_EQ(notes.size(), 2u) << "what is the same is said once";
  const std::string best = "`attnscope best --problem " + problem_words(row.problem) + " --device cuda:0`";
  EXPECT_THAT(notes[0], testing::StartsWith("tiled, mma: the config tuned for B1 H8 S4096 D128, "));
  EXPECT_THAT(notes[0], HasSubstr(best));
  EXPECT_THAT(notes[1], testing::StartsWith("flash: the default config"));
  EXPECT_THAT(notes[1], HasSubstr(best));
  for (const std::string& note : notes) {
    EXPECT_THAT(as_table(report), HasSubstr(note));
    EXPECT_THAT(as_markdown(report), HasSubstr(markdown_text(note)));
  }
  const auto read = report_from_json(to_json(report), "here");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, report);
}

// The columns stand below each other in whatever script a label is, and a label is one line.
TEST(ReportText, ALabelOfManyBytesTakesTheColumnsThatItShows) {
  BenchReport report = report_of();
  const std::string plain = as_table(report);
  report.entries[0].label = "t\u00efl\u00e8d";
  std::string other = as_table(report);
  const size_t at = other.find("t\u00efl\u00e8d");
  ASSERT_NE(at, std::string::npos);
  other.replace(at, std::string("t\u00efl\u00e8d").size(), "tiled");
  EXPECT_EQ(other, plain);
  report.entries[0].label = "two\nlines";
  const std::string lines = as_table(report);
  EXPECT_EQ(std::ranges::count(lines, '\n'), std::ranges::count(plain, '\n')) << lines;
}

TEST(ReportText, TheFootnoteLeavesOutWhatIsNotKnown) {
  BenchReport report = report_of();
  report.entries[1].version = "1.0";  // of mma
  EXPECT_EQ(footnote(report),
            "attnscope 0.1.0, NVRTC 12.8, driver 580, 12 passes in turn over all entries of a row, 100 ms each, today; "
            "mma: 1.0; torch: 2.9");
  report.versions.nvrtc.clear();
  report.versions.driver.clear();
  report.date.clear();
  report.blocks = 1;
  report.entries.resize(1);
  EXPECT_EQ(footnote(report), "attnscope 0.1.0, 1 passes in turn over all entries of a row, 100 ms each");
  report.blocks = 0;
  EXPECT_EQ(footnote(report), "attnscope 0.1.0");
}

TEST(ReportText, TheHeadingSaysWhoseFiguresTheyAre) {
  BenchReport report = report_of();
  report.rows[0].cells[2].kind = FigureKind::modelled;
  EXPECT_THAT(as_table(report), HasSubstr("measured and modelled, NVIDIA L4 (cuda:0); us"));
  for (Cell& cell : report.rows[0].cells) cell.kind = FigureKind::modelled;
  EXPECT_THAT(as_table(report), HasSubstr("modelled for NVIDIA L4 (cuda:0); us"));
  for (Cell& cell : report.rows[0].cells) cell.state = CellState::not_applicable;
  report.device_name.clear();
  EXPECT_THAT(as_table(report), HasSubstr("nothing timed on cuda:0; us"));
}

TEST(ReportText, TheLadderComparesWithTheFastestPeer) {
  BenchReport report = report_of();
  EXPECT_EQ(best_peer(report, report.rows[0]), 2u);
  const std::string problem = problem_text(Problem{});
  EXPECT_THAT(
      as_ladder(report),
      testing::StartsWith("| us, hot, measured on NVIDIA L4 (cuda:0) | " + problem +
                          " |\n| --- | ---: |\n| tiled | 40.0 (0.50x) |\n| mma | not applicable |\n"
                          "| flash | 20.0 |\n| math | 80.0 |\n\n"
                          "In brackets: the fastest peer's time over this one's; above 1, this one is faster.\n"));
  report.rows[0].cells[0].ratios[0] = {2, 0.0512, measure::Interval{0.05, 0.06}};
  EXPECT_THAT(as_ladder(report), HasSubstr("| tiled | 40.0 (0.051x) |"));
  report.rows[0].cells[0].ratios[0] = {2, 1, measure::Interval{0.9, 1.1}};
  EXPECT_THAT(as_ladder(report), HasSubstr("| tiled | 40.0 (tie) |"));
  report.rows[0].cells[0].state = CellState::wrong;
  EXPECT_THAT(as_ladder(report), HasSubstr("| tiled | wrong |"));
  report.rows[0].cells[2].state = report.rows[0].cells[3].state = CellState::not_applicable;
  EXPECT_THAT(as_ladder(report), Not(HasSubstr("In brackets")));
}

TEST(ReportText, ColdRowsAreInTheLadderOnlyWhereThereAreNoHotOnes) {
  BenchReport report = report_of();
  report.rows.push_back(report.rows[0]);
  report.rows[1].cache = CacheState::cold;
  report.rows[1].cells[0].p50 = 77;
  EXPECT_THAT(as_ladder(report), Not(HasSubstr("77.0")));
  report.rows.erase(report.rows.begin());
  EXPECT_THAT(as_ladder(report), HasSubstr("us, cold, "));
  EXPECT_THAT(as_ladder(report), HasSubstr("77.0"));
  report.rows.clear();
  EXPECT_THAT(as_ladder(report), testing::StartsWith("\nattnscope"));
}

// One run of one entry, as a report tells it.
Cell cell_of(const std::function<void(Observation&)>& change, bool emulated = true) {
  BenchPlan plan;
  plan.head.emulated = emulated;
  plan.head.entries = {{"ours", "ours", "h", false, "d", ""}};
  plan.head.rows.emplace_back().cells.resize(1);
  BenchCalls calls;
  calls.run = [&](size_t, size_t) {
    Observation o;
    Timing& timing = o.timing.emplace();
    timing.kind = FigureKind::modelled;
    timing.p10 = 9, timing.p50 = 10, timing.p90 = 11;
    timing.samples = 5;
    o.verdict.emplace().state = VerdictState::correct;
    change(o);
    return o;
  };
  calls.save = [](const BenchState&) {};
  calls.on_progress = [](const BenchProgress&) {};
  calls.now_seconds = [] { return 0.0; };
  calls.config_text = [](size_t, const auto&) { return std::string("BLOCK_M=16"); };
  BenchState state;
  run_bench(plan, calls, state);
  return report_of(plan, state, "today").rows[0].cells[0];
}

TEST(BenchCell, IsTheObservations) {
  const Cell cell = cell_of([](Observation& o) { o.experiment.config.knobs = {{"BLOCK_M", 16}}; });
  EXPECT_EQ(cell.state, CellState::timed);
  EXPECT_EQ(cell.kind, FigureKind::modelled);
  EXPECT_EQ(cell.p10, 9);
  EXPECT_EQ(cell.p50, 10);
  EXPECT_EQ(cell.p90, 11);
  EXPECT_EQ(cell.samples, 5);
  EXPECT_NEAR(cell.tflops, Problem{}.flops() / 10e6, 1e-9);
  EXPECT_EQ(cell.verdict, VerdictState::correct);
  EXPECT_EQ(cell.config, "BLOCK_M=16");
  EXPECT_EQ(cell.knobs.at("BLOCK_M"), 16);
  EXPECT_EQ(cell.reason, "");
  EXPECT_EQ(cell_of([](Observation& o) { o.verdict.reset(); }).verdict, VerdictState::unchecked);
}

TEST(BenchCell, AWrongOutputsTimeMeansNothing) {
  const Cell cell = cell_of([](Observation& o) {
    o.verdict->state = VerdictState::wrong;
    o.verdict->reason = "NaN at 5";
  });
  EXPECT_EQ(cell.state, CellState::wrong);
  EXPECT_EQ(cell.reason, "NaN at 5");
  EXPECT_EQ(cell.p50, 0);
}

TEST(BenchCell, EachKindOfFailureHasItsWords) {
  const auto reason = [](Stage stage, const char* hint = "a hint") {
    const Cell cell = cell_of([&](Observation& o) { o.failure = Failure{stage, "first line\nsecond", hint}; });
    EXPECT_EQ(cell.state, CellState::not_applicable);
    return cell.reason;
  };
  EXPECT_EQ(reason(Stage::limits), "does not fit: first line");
  EXPECT_EQ(reason(Stage::compile), "does not compile: first line");
  EXPECT_EQ(reason(Stage::input), "first line");
  EXPECT_EQ(reason(Stage::device), "not here: first line. a hint");
  EXPECT_EQ(reason(Stage::device, ""), "not here: first line");
  EXPECT_EQ(reason(Stage::launch), "failed: first line");
  EXPECT_EQ(cell_of([](Observation& o) { o.timing.reset(); }).reason, "it gave no time");
}

}  // namespace
}  // namespace attnscope::report
