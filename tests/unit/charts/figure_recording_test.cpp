// Every figure that can be exported, with everything in it: its picture and its table, compared with those in
// tests/data/charts. After an intended change, look at the pictures and write all again:
//   ATTNSCOPE_WRITE_PAGES=1 charts_tests --gtest_filter='FigureRecording.*'
#include <gtest/gtest.h>

#include "charts/figure.h"
#include "charts/timeline_view.h"
#include "support/made_up_timeline.h"
#include "support/recorded_text.h"

namespace attnscope::charts {
namespace {

void expect_as_recorded(const std::string& name, const std::string& text) {
  testing_support::expect_as_recorded("charts", name, text);
}

void expect_recorded(const std::string& name, const Figure& figure) {
  expect_as_recorded(name + ".svg", svg_of(figure));
  expect_as_recorded(name + ".csv", csv_of(figure.sheet));
}

// Twenty runs: two kinds, a failure, a wrong one and one without a time.
LatencyChart twenty_runs() {
  std::vector<Run> runs;
  for (uint64_t id = 1; id <= 20; ++id) {
    auto one = std::make_shared<Observation>();
    one->experiment.kernel = id % 2 == 0 ? "mma" : "tiled";
    one->experiment.device = "emulated:l4";
    one->experiment.problem.batch = id == 12 ? 64 : 1;
    if (id == 7) one->failure = Failure{Stage::limits, "too large", ""};
    if (id != 7 && id != 9) {
      Timing& timing = one->timing.emplace();
      timing.kind = id % 3 == 0 ? FigureKind::measured : FigureKind::modelled;
      timing.p50 = 3000.0 / double(id);
      timing.p10 = timing.p50 * 0.9, timing.p90 = timing.p50 * 1.25;
      timing.interval_low = timing.p50 * 0.97, timing.interval_high = timing.p50 * 1.04;
    }
    one->verdict.emplace().state = id == 5 ? VerdictState::wrong : VerdictState::correct;
    runs.push_back({id, std::move(one), "W 4 \u2192 8", "W=" + std::to_string(id)});
  }
  LatencyChart chart;
  append(chart, runs);
  return chart;
}

TEST(FigureRecording, Runs) {
  expect_recorded("runs", figure_of(twenty_runs(), AxisChoice::automatic, 4, 18));
  expect_recorded("runs_linear", figure_of(twenty_runs(), AxisChoice::linear, 0, 0));
}

TEST(FigureRecording, AScan) {
  ScanSeries series;
  series.knob = "NUM_WARPS";
  series.most = 40;
  const std::pair<ScanState, double> rows[] = {
      {ScanState::timed, 40},  {ScanState::timed, 20}, {ScanState::timed, 19.5}, {ScanState::faulty, 10},
      {ScanState::refused, 0}, {ScanState::failed, 0}, {ScanState::waiting, 0}};
  for (const auto& [state, us] : rows) {
    ScanRow& row = series.rows.emplace_back();
    row.value = int64_t(series.rows.size());
    row.text = std::to_string(row.value);
    row.state = state;
    if (us > 0) row.us = us;
    row.kind = row.value == 2 ? FigureKind::measured : FigureKind::modelled;
    row.verdict = us > 0 ? "correct" : "";
    row.reason = state == ScanState::refused ? "does not fit" : "";
    row.warning = row.value == 1 ? "slow" : "";
    row.same_as = row.value == 3 ? "NUM_WARPS=2" : "";
  }
  series.rows[2].best = true;
  series.rows[1].tie = true;
  series.rows[3].verdict = "wrong";
  expect_recorded("scan", figure_of(series, "tiled <on> emulated:l4"));
}

TEST(FigureRecording, ARoofline) {
  DeviceSpec spec;
  spec.id = "emulated:l4";
  spec.name = "NVIDIA L4";
  spec.sms = 58;
  spec.clock_mhz = 2040;
  spec.dram_gbs = 300, spec.l2_mb = 48;
  spec.tensor_tflops_f16 = 121;
  spec.rates = {{"fp32", 128}, {"l2_sectors", 1}};
  expect_recorded("roofline", figure_of(roofline(twenty_runs(), spec, 4, 18), "NVIDIA L4"));
}

TEST(FigureRecording, SharedMemory) {
  MemoryStack stack;
  stack.segments = {{"tile of K", 0, 16384, false, false},
                    {"padding", 16384, 16400, false, true},
                    {"rows", 16400, 20480, true, false}};
  stack.total_bytes = 20480, stack.reserved_bytes = 1024;
  stack.ctas = 3;
  stack.scale_bytes = 110000;
  stack.marks = {{LimitKind::static_block, 49152, "48 KB static", ""}, {LimitKind::sm_total, 102400, "100 KB", ""}};
  expect_recorded("shared_memory", figure_of(stack));
  stack.ctas = 0;  // unknown
  expect_recorded("shared_memory_of_one", figure_of(stack));
}

TEST(FigureRecording, Terms) {
  TermTable table;
  table.rows = {{TermKind::issue, 10, 4}, {TermKind::tail, 1, 2}, {TermKind::launch, 0, 3}};
  expect_recorded("terms", figure_of(table));
  table.against = true;
  expect_recorded("terms_against_a", figure_of(table));
}

TEST(FigureRecording, Timelines) {
  const SmTimeline modelled = testing_support::made_up_timeline();
  expect_recorded("ctas", ctas_figure(modelled, "emulated:l4"));
  expect_recorded("warps", warps_figure(modelled, "emulated:l4"));
  SmTimeline measured = testing_support::made_up_clocks();
  measured.from = 1, measured.column = 5;
  expect_recorded("measured_warps", warps_figure(measured, "cuda:0"));
}

TEST(FigureRecording, ARasterAndEveryMark) {
  Figure figure{.title = "A map & more", .note = "two by three"};
  figure.x = {"column", 0, 3, false, {{0, "0"}, {3, "3"}}};
  figure.y = {"row", 2, 0, false, {{0, "the first row"}, {2, "2"}}};
  figure.raster = {3, 2, {0xff0000, 0xff0000, 0x00ff00, 0x00ff00, 0xff0000, 0x00000a}};
  for (const FigureKind kind : {FigureKind::measured, FigureKind::counted, FigureKind::modelled, FigureKind::reported})
    figure.points.push_back({0.5 + double(kind) / 2, 1, 0.8, 1.3, kind, kind == FigureKind::counted, "p"});
  figure.lines = {{"roof", {{0, 1}, {3, 2}}, true}, {"", {{0, 0}, {1, 2}, {3, 1}}, false}, {"none", {}, false}};
  expect_recorded("marks", figure);
}

}  // namespace
}  // namespace attnscope::charts
