#include "charts/sheet.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "core/escape.h"
#include "core/headline.h"
#include "core/joined.h"
#include "core/json.h"
#include "core/options.h"

namespace attnscope::charts {
namespace {

std::string csv_cell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return csv_text(*text);
  if (const auto* whole = std::get_if<int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&cell); number != nullptr && std::isfinite(*number))
    return fmt::format("{:.6g}", *number);
  return {};
}

Json json_cell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&cell)) return *whole;
  if (const auto* number = std::get_if<double>(&cell); number != nullptr && std::isfinite(*number)) return *number;
  return nullptr;
}

}  // namespace

std::string csv_line(const std::vector<Cell>& cells) { return joined(cells, csv_cell, ","); }

std::string csv_of(const Sheet& sheet) {
  std::string text = joined(sheet.columns, csv_text, ",") + "\n";
  for (const std::vector<Cell>& row : sheet.rows) text += csv_line(row) + "\n";
  return text;
}

std::string json_of(const Sheet& sheet) {
  Json all = Json::array();
  for (const std::vector<Cell>& row : sheet.rows) {
    Json one = Json::object();
    for (size_t at = 0; at < row.size(); ++at) one[sheet.columns[at]] = json_cell(row[at]);
    all.push_back(std::move(one));
  }
  return json_text(all, 1) + "\n";
}

// A damaged or foreign row may have any time; years above 9999 are not written.
std::string date_of(double finished_at) {
  constexpr double kEndOf9999 = 253402300800.0;
  if (!(finished_at >= 0 && finished_at < kEndOf9999)) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(finished_at)));
}

std::string knobs_text(const Config& config, const char* between) {
  return joined(
      config.knobs, [](const auto& knob) { return fmt::format("{}={}", knob.first, knob.second); }, between);
}

std::string options_text(const Config& config, const char* between) {
  return joined(
      option_words(config.options, CompileOptions{}), [](const std::string& word) { return word; }, between);
}

std::string result_word(const Observation& run) {
  if (const auto headline = headline_of(run)) return std::string(to_string(*headline));
  return run.failure ? fmt::format("{} failed", to_string(run.failure->stage)) : "not run";
}

const std::vector<std::string>& run_columns() {
  static const std::vector<std::string> columns{"finished_at",
                                                "kernel",
                                                "config",
                                                "problem",
                                                "device",
                                                "gpu",
                                                "us",
                                                "us_low",
                                                "us_high",
                                                "kind",
                                                "cache",
                                                "result",
                                                "tflops",
                                                "registers",
                                                "static_shared_bytes",
                                                "dynamic_shared_bytes",
                                                "occupancy",
                                                "app",
                                                "hash",
                                                "options"};
  return columns;
}

std::vector<Cell> run_cells(const Observation& run, double finished_at) {
  const Experiment& e = run.experiment;
  std::vector<Cell> cells{date_of(finished_at),  e.kernel,   knobs_text(e.config, ";"),
                          short_text(e.problem), run.device, run.versions.gpu};
  const auto add = [&](const auto& part, const auto& value) { cells.push_back(part ? Cell(value(*part)) : Cell()); };
  add(run.timing, [](const Timing& t) { return t.p50; });
  add(run.timing, [](const Timing& t) { return t.interval_low; });
  add(run.timing, [](const Timing& t) { return t.interval_high; });
  add(run.timing, [](const Timing& t) { return std::string(to_string(t.kind)); });
  add(run.timing, [](const Timing& t) { return std::string(to_string(t.cache)); });
  cells.emplace_back(result_word(run));
  add(run.tflops, [](double tflops) { return tflops; });
  add(run.variant, [](const VariantInfo& v) { return v.registers; });
  add(run.variant, [](const VariantInfo& v) { return v.static_shared_bytes; });
  add(run.variant, [](const VariantInfo& v) { return v.dynamic_shared_bytes; });
  add(run.occupancy, [](const Occupancy& o) { return o.fraction; });
  cells.emplace_back(run.versions.app);
  cells.emplace_back(run.hash);
  cells.emplace_back(options_text(e.config, ";"));
  return cells;
}

}  // namespace attnscope::charts
