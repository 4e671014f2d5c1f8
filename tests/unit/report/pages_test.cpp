// The page and the table of a report with everything in it, compared with those in tests/data/report. After an intended
// change, look at the page and write both again:
//   ATTNSCOPE_WRITE_PAGES=1 report_tests --gtest_filter='ReportPages.*'
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/rbk_report.h"
#include "support/recorded_text.h"

namespace attnscope::report {
namespace {

Cell timed(FigureKind kind, double us) {
  Cell cell;
  cell.state = CellState::timed;
  cell.kind = kind;
  cell.p10 = us * 0.9, cell.p50 = us, cell.p90 = us * 1.25;
  cell.tflops = 1000 / us;
  cell.config = "BLOCK_M=32 NUM_WARPS=4";
  cell.verdict = VerdictState::correct;
  cell.error = CellError{1e-4, 1e-4, 1e-3, 1e-3, 0};
  return cell;
}

// A baseline, two kernels and two peers; hot and cold, measured and modelled, cells of every state, gates of every
// outcome.
RbkReport everything() {
  RbkReport report;
  BenchReport& bench = report.bench;
  bench.date = "2026-11-22T12:00:00Z";
  bench.device = "cuda:0";
  bench.device_name = "NVIDIA L4";
  bench.versions.app = "0.1.0";
  bench.versions.nvrtc = "12.8";
  bench.versions.driver = "580.95.05";
  bench.blocks = 12;
  bench.block_ms = 100;
  bench.entries = {{"base", "tiled", "h", false, "cuda:0", "", true},
                   {"ours", "mma", "h", false, "cuda:0", ""},
                   {"broken", "mine", "h", false, "cuda:0", ""},
                   {"flash", "torch", "h", true, "torch/cuda:0", "2.9"},
                   {"math", "torch", "h", true, "torch/cuda:0", "2.9"}};
  const measure::Interval narrow{39, 41};
  for (const auto& [name, seq] : {std::pair("short", 512), {"long", 4096}}) {
    report.config.shapes.push_back({name, 1, 8, seq, 64, false, "float16"});
    report.rows.push_back(bench.rows.size());
    Row& row = bench.rows.emplace_back();
    row.problem.seq_q = row.problem.seq_k = seq;
    row.cells = {timed(FigureKind::measured, 40),
                 timed(FigureKind::modelled, 25),
                 {},
                 timed(FigureKind::measured, 20),
                 timed(FigureKind::measured, 3000)};
    row.cells[0].interval = narrow;
    row.cells[0].ratios = {{3, 0.5, measure::Interval{0.49, 0.51}}, {4, 75, std::nullopt}};
    row.cells[1].ratios = {{0, 1.6, std::nullopt}, {3, 0.8, std::nullopt}};
    row.cells[2].reason =
        "does not fit: it asks 57,376 B of static shared memory, and a CTA of this device has 49,152 B "
        "unless it is allowed to ask for more than that";
  }
  bench.rows[1].cache = CacheState::cold;
  bench.rows[1].cells[0].ratios[0] = {3, 1, measure::Interval{0.98, 1.02}};
  bench.rows[1].cells[2].state = CellState::wrong;
  bench.rows[1].cells[2].reason = "NaN at <5>";
  bench.rows[1].cells[1].verdict = VerdictState::unchecked;
  bench.rows[1].cells[1].error.reset();
  report.merges = {{1,
                    {{GateKind::compiles, true, "runs on 2 shapes"},
                     {GateKind::correct, std::nullopt, "unchecked on 1 shape"},
                     {GateKind::gain, false, "nowhere twice as fast"}}},
                   {0, {{GateKind::compiles, true, "runs on 2 shapes"}}}};
  return report;
}

void expect_as_recorded(const std::string& name, const std::string& text) {
  testing_support::expect_as_recorded("report", name, text);
}

TEST(ReportPages, ThePageIsAsRecorded) { expect_as_recorded("page.html", as_html(everything())); }

TEST(ReportPages, TheTablesAreAsRecorded) {
  const RbkReport report = everything();
  expect_as_recorded("tables.md", as_markdown(report) + "\n" + as_markdown(report.bench));
}

TEST(ReportPages, ARowOfOneTimeHasAnAxisToo) {
  RbkReport report = everything();
  report.bench.rows.resize(1);
  for (Cell& cell : report.bench.rows[0].cells)
    if (&cell != &report.bench.rows[0].cells[3]) cell.state = CellState::not_applicable;
  report.bench.rows[0].cells[3].p10 = report.bench.rows[0].cells[3].p90 = 20;
  expect_as_recorded("one_time.svg", as_svg(report.bench));
}

}  // namespace
}  // namespace attnscope::report
