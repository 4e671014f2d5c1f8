#include "report/rbk_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/escape.h"
#include "core/json.h"
#include "core/observation_fields.h"
#include "measure/statistics.h"
#include "report/markdown.h"

namespace attnscope::report {
namespace {

double ms_of(double us) { return us / 1000; }

// The figures that robust-kbench computes from a runner's samples, ms.
struct Spread {
  std::vector<double> samples;  // in ascending order
  double p95 = 0, p99 = 0, mean = 0, deviation = 0;
};

std::optional<Spread> spread_of(const CellTaken& taken) {
  measure::Rounds rounds;
  for (const auto& block : taken.blocks) rounds.insert(rounds.end(), block.begin(), block.end());
  Spread spread;
  for (const double us : measure::pooled(rounds)) spread.samples.push_back(ms_of(us));
  if (spread.samples.empty()) return std::nullopt;
  const auto count = static_cast<double>(spread.samples.size());
  spread.p95 = measure::quantile(spread.samples, 0.95);
  spread.p99 = measure::quantile(spread.samples, 0.99);
  spread.mean = std::accumulate(spread.samples.begin(), spread.samples.end(), 0.0) / count;
  double squares = 0;
  for (const double ms : spread.samples) squares += (ms - spread.mean) * (ms - spread.mean);
  spread.deviation = std::sqrt(squares / count);
  return spread;
}

std::optional<Spread> spread_of(const RbkReport& report, const RbkCell& at) {
  const auto row = static_cast<size_t>(at.row - report.bench.rows.data());
  if (row >= report.state.taken.size() || at.entry >= report.state.taken[row].size()) return std::nullopt;
  return spread_of(report.state.taken[row][at.entry]);
}

Json ratio_json(const RbkReport& report, const Ratio* ratio) {
  if (ratio == nullptr) return nullptr;
  Json json{{"to", report.bench.entries[ratio->peer].label},
            {"ratio", ratio->ratio},
            {"interval", nullptr},
            {"tie", ratio->tie()}};
  if (ratio->interval) json["interval"] = {ratio->interval->low, ratio->interval->high};
  return json;
}

Json result_json(const RbkReport& report, const RbkCell& at) {
  const Cell& cell = *at.cell;
  Json json{{"shape", to_json(*at.shape)},
            {"kernel_name", report.bench.entries[at.entry].label},
            {"p50_latency_ms", ms_of(cell.p50)},
            {"p90_latency_ms", ms_of(cell.p90)},
            {"p95_latency_ms", nullptr},
            {"p99_latency_ms", nullptr},
            {"mean_latency_ms", nullptr},
            {"std_latency_ms", nullptr},
            {"tflops", cell.tflops},
            {"raw_latencies_ms", Json::array()},
            {"kind", word_of(cell.kind)},
            {"interval_ms", nullptr},
            {"config", cell.config},
            {"config_from", nullptr},
            {"tuned_for", nullptr},
            {"verdict", word_of(cell.verdict)},
            {"max_abs", nullptr},
            {"rel_frobenius", nullptr},
            {"ratio_to_sdpa", ratio_json(report, at.to_peer)},
            {"ratio_to_baseline", ratio_json(report, at.to_baseline)}};
  if (cell.interval) json["interval_ms"] = {ms_of(cell.interval->low), ms_of(cell.interval->high)};
  if (cell.config_from) json["config_from"] = word_of(*cell.config_from);
  if (cell.tuned_for) json["tuned_for"] = attnscope::to_json(*cell.tuned_for);
  if (cell.error) {
    json["max_abs"] = number_json(cell.error->max_abs);
    json["rel_frobenius"] = number_json(cell.error->rel_frobenius);
  }
  if (const auto spread = spread_of(report, at)) {
    json["p95_latency_ms"] = spread->p95;
    json["p99_latency_ms"] = spread->p99;
    json["mean_latency_ms"] = spread->mean;
    json["std_latency_ms"] = spread->deviation;
    json["raw_latencies_ms"] = spread->samples;
  }
  return json;
}

Json summary_json(const RbkReport& report, const std::vector<RbkCell>& timed) {
  Json summary{{"total_shapes", report.config.shapes.size()},
               {"kernels", Json::array()},
               {"mean_p50_ms", nullptr},
               {"mean_tflops", nullptr}};
  for (const Entry& entry : report.bench.entries) summary["kernels"].push_back(entry.label);
  if (timed.empty()) return summary;
  double ms = 0, tflops = 0;
  for (const RbkCell& at : timed) {
    ms += ms_of(at.cell->p50);
    tflops += at.cell->tflops;
  }
  summary["mean_p50_ms"] = ms / static_cast<double>(timed.size());
  summary["mean_tflops"] = tflops / static_cast<double>(timed.size());
  return summary;
}

Json merge_json(const RbkReport& report, const Merge& merge) {
  Json json{
      {"kernel_name", report.bench.entries[merge.entry].label}, {"passes", merge.passes()}, {"gates", Json::array()}};
  for (const Gate& gate : merge.gates)
    json["gates"].push_back({{"gate", word_of(gate.kind)},
                             {"passed", gate.passed ? Json(*gate.passed) : Json(nullptr)},
                             {"why", gate.why}});
  return json;
}

std::vector<RbkCell> timed_cells(const RbkReport& report) {
  std::vector<RbkCell> cells = cells_of(report);
  std::erase_if(cells, [](const RbkCell& at) { return at.cell->state != CellState::timed; });
  return cells;
}

std::string ratio_cell(const Ratio* ratio, const Cell& cell) {
  return ratio != nullptr ? ratio_text(*ratio, cell.kind) : "";
}

}  // namespace

std::vector<RbkCell> cells_of(const RbkReport& report) {
  const auto baseline = baseline_of(report.bench);
  std::vector<RbkCell> cells;
  for (size_t shape = 0; shape < report.config.shapes.size(); ++shape) {
    const Row& row = report.bench.rows[report.rows[shape]];
    const auto peer = best_peer(report.bench, row);
    for (size_t entry = 0; entry < row.cells.size(); ++entry) {
      const Cell& cell = row.cells[entry];
      cells.push_back({&report.config.shapes[shape], &row, entry, &cell, peer ? ratio_to(cell, *peer) : nullptr,
                       baseline ? ratio_to(cell, *baseline) : nullptr});
    }
  }
  return cells;
}

std::string gates_text(const Merge& merge) {
  const auto passed = std::ranges::count_if(merge.gates, [](const Gate& gate) { return gate.passed == true; });
  std::string text = fmt::format("{} of {} gates", passed, merge.gates.size()), failed;
  for (const Gate& gate : merge.gates) {
    if (gate.passed == true) continue;
    failed += fmt::format("{}{}{} ({})", failed.empty() ? ": " : "; ", to_string(gate.kind),
                          gate.passed ? " fails" : " is not known", gate.why);
  }
  return text + failed;
}

Json to_json(const RbkReport& report) {
  const auto timed = timed_cells(report);
  Json json{{"results", Json::array()},
            {"summary", summary_json(report, timed)},
            {"not_timed", Json::array()},
            {"gates", Json::array()},
            {"device",
             {{"id", report.bench.device}, {"name", report.bench.device_name}, {"emulated", report.bench.emulated}}},
            {"versions", write_fields(report.bench.versions)},
            {"date", report.bench.date}};
  for (const RbkCell& at : timed) json["results"].push_back(result_json(report, at));
  for (const RbkCell& at : cells_of(report))
    if (at.cell->state != CellState::timed)
      json["not_timed"].push_back({{"shape", to_json(*at.shape)},
                                   {"kernel_name", report.bench.entries[at.entry].label},
                                   {"state", word_of(at.cell->state)},
                                   {"reason", at.cell->reason}});
  for (const Merge& merge : report.merges) json["gates"].push_back(merge_json(report, merge));
  return json;
}

std::string as_csv(const RbkReport& report) {
  std::string out =
      "kernel_name,shape,B,H,S,D,causal,dtype,p50_ms,p90_ms,p95_ms,p99_ms,mean_ms,std_ms,tflops,kind,verdict\n";
  for (const RbkCell& at : timed_cells(report)) {
    const RbkShape& shape = *at.shape;
    const auto spread = spread_of(report, at);
    const auto figure = [&](double Spread::*which) { return spread ? fmt::format("{:.6g}", (*spread).*which) : ""; };
    out += fmt::format("{},{},{},{},{},{},{},{},{:.6g},{:.6g},{},{},{},{},{:.6g},{},{}\n",
                       csv_text(report.bench.entries[at.entry].label), csv_text(shape.name), shape.batch_size,
                       shape.num_heads, shape.seq_len, shape.head_dim, shape.causal ? "True" : "False",
                       csv_text(shape.dtype), ms_of(at.cell->p50), ms_of(at.cell->p90), figure(&Spread::p95),
                       figure(&Spread::p99), figure(&Spread::mean), figure(&Spread::deviation), at.cell->tflops,
                       word_of(at.cell->kind), word_of(at.cell->verdict));
  }
  return out;
}

std::string as_markdown(const RbkReport& report) {
  std::string out = "# Benchmark report\n\n" + markdown_text(footnote(report.bench)) + "\n\n## Gates\n\n";
  for (const Merge& merge : report.merges)
    out += "- " + markdown_text(report.bench.entries[merge.entry].label + ": " + gates_text(merge)) + "\n";
  out += "\n## Results\n\n";
  const std::vector<std::string> head{"kernel",  "shape",   "p50 ms",          "p90 ms", "kind",
                                      "TFLOP/s", "to SDPA", "to the baseline", "verdict"};
  out += markdown_line(head) + rule(head.size());
  for (const RbkCell& at : cells_of(report)) {
    const Cell& cell = *at.cell;
    const std::string& label = report.bench.entries[at.entry].label;
    if (cell.state != CellState::timed)
      out += markdown_line(
          {label, at.shape->name, "", "", "", "", "", "", fmt::format("{}: {}", to_string(cell.state), cell.reason)});
    else
      out += markdown_line({label, at.shape->name, fmt::format("{:.4g}", ms_of(cell.p50)),
                            fmt::format("{:.4g}", ms_of(cell.p90)), std::string(to_string(cell.kind)),
                            fmt::format("{:.3g}", cell.tflops), ratio_cell(at.to_peer, cell),
                            ratio_cell(at.to_baseline, cell), std::string(to_string(cell.verdict))});
  }
  return out;
}

}  // namespace attnscope::report
