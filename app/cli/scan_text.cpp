#include "cli/scan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"
#include "charts/scan_rows.h"
#include "charts/tables.h"
#include "cli/findings.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/observation_fields.h"

namespace attnscope::cli {
namespace {

using charts::ScanRow;
using charts::ScanSeries;
using charts::ScanState;

std::string time_text(const ScanRow& row) {
  return row.us ? fmt::format("{} us {}", charts::terminal_us(*row.us), to_string(row.kind)) : "";
}

std::string change_text(const ScanRow& row) {
  if (row.current) return "current";
  if (!row.change) return "";
  if (row.change->outcome == charts::Outcome::not_comparable || row.change->outcome == charts::Outcome::tie)
    return std::string(to_string(row.change->outcome));
  return fmt::format("{:+.1f} %", (row.change->ratio - 1) * 100);
}

std::string notes_of(const ScanRow& row) {
  std::string notes = row.best ? "fastest" : row.tie ? "as fast: cannot be told apart" : "";
  const auto add = [&](const std::string& more) {
    if (!more.empty()) notes += (notes.empty() ? "" : notes.ends_with('.') ? " " : "; ") + more;
  };
  if (!row.same_as.empty()) add("the machine code of " + row.same_as + ", timed once");
  add(row.reason);
  add(row.hint);
  if (!row.warning.empty()) add("the manifest warns: " + row.warning);
  return notes;
}

void add_series(std::string& out, const ScanSeries& series) {
  out += "\n" + one_line(series.knob + ": " + charts::best_sentence(series)) + "\n";
  size_t widest = 0;
  for (const ScanRow& row : series.rows) widest = std::max(widest, row.text.size());
  for (const ScanRow& row : series.rows) {
    std::string text = fmt::format("{} {:>{}}  {:>20}  {:>20}  {:<18}  {}", row.current ? "*" : " ", row.text, widest,
                                   time_text(row), change_text(row), label(row.verdict), notes_of(row));
    text.erase(text.find_last_not_of(' ') + 1);
    out += one_line(text) + "\n";
  }
}

Json scan_row_json(const Scan& scan, const ScanRow& row) {
  const ScanPoint& point = scan.points[row.point];
  Json json{{"value", row.value},      {"text", row.text},      {"state", word_of(row.state)},
            {"current", row.current},  {"fastest", row.best},   {"tie", row.tie},
            {"us", nullptr},           {"kind", nullptr},       {"verdict", row.verdict},
            {"reason", row.reason},    {"hint", row.hint},      {"warnings", point.warnings},
            {"same_code_as", nullptr}, {"observation", nullptr}};
  if (row.us) {
    json["us"] = *row.us;
    json["kind"] = word_of(row.kind);
  }
  if (!row.same_as.empty()) json["same_code_as"] = row.same_as;
  if (point.observation && !point.same_as) json["observation"] = attnscope::to_json(*point.observation);
  return json;
}

// What an emulated value's verdict rests on, if not all rows were checked; by the value with the fewest.
void add_sample(std::string& out, const Scan& scan) {
  const Verdict* fewest = nullptr;
  for (const ScanPoint& point : scan.points) {
    const Observation* run = point.observation.get();
    const bool sampled = run != nullptr && run->counters && run->counters->emulated_ctas < run->counters->total_ctas;
    const Verdict* verdict = sampled && run->verdict ? &*run->verdict : nullptr;
    if (verdict != nullptr && !charts::checked_text(*verdict).empty() &&
        (fewest == nullptr || verdict->rows_checked < fewest->rows_checked))
      fewest = verdict;
  }
  if (fewest != nullptr)
    out += fmt::format("\nValues ran a sample of their CTAs: at least {}. `attnscope run` runs all.\n",
                       charts::checked_text(*fewest));
}

}  // namespace

std::string text_of(const Scan& scan, const Kernel& kernel) {
  std::string out = one_line(kernel.id + "  " + short_text(scan.held.config, kernel)) + "\n" +
                    one_line(short_text(scan.held.problem) + " on " + scan.held.device) + "\n";
  for (const ScanSeries& series : charts::scan_series(scan)) add_series(out, series);
  add_sample(out, scan);
  const bool watched = std::ranges::any_of(
      scan.points, [](const ScanPoint& point) { return point.observation && point.observation->watch; });
  if (!watched) out += fmt::format("\n{}\n", kNotWatched);
  return out;
}

Json to_json(const Scan& scan) {
  Json json{{"experiment", attnscope::to_json(scan.held)}, {"knobs", Json::array()}};
  for (const ScanSeries& series : charts::scan_series(scan)) {
    Json one{{"knob", series.knob}, {"summary", charts::best_sentence(series)}, {"values", Json::array()}};
    for (const ScanRow& row : series.rows) one["values"].push_back(scan_row_json(scan, row));
    json["knobs"].push_back(std::move(one));
  }
  return json;
}

}  // namespace attnscope::cli
