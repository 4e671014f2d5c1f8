#include "charts/scan_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/format.h"
#include "charts/tables.h"
#include "core/joined.h"

namespace attnscope::charts {
namespace {

// Fills in the results of the run itself.
void take_run(ScanRow& row, const Observation& run) {
  const auto headline = headline_of(run);
  if (headline) row.verdict = word_of(*headline);
  if (run.verdict) row.checked = checked_text(*run.verdict);
  if (run.timing) {
    row.us = run.timing->p50;
    row.kind = run.timing->kind;
    row.state = ScanState::timed;
  }
  if (run.failure) {
    row.state = ScanState::failed;
    row.verdict = word_of(run.failure->stage);
    row.reason = run.failure->message;
    row.hint = run.failure->hint;
    const Stage stage = run.failure->stage;
    if (stage == Stage::limits || stage == Stage::compile || stage == Stage::input) row.state = ScanState::refused;
  } else if (headline && is_fault(*headline)) {
    row.state = ScanState::faulty;
    if (run.verdict) row.reason = run.verdict->reason;
    if (run.watch && is_of_watch(*headline))
      for (const Finding& one : run.watch->findings)
        if (one.severity == Severity::error) {
          row.reason = one.sentence;
          break;
        }
  }
}

// The name of the point that was timed instead. The held config is the current value of every knob, so it is named by
// the point's own knob. A config of a list has no knob.
std::string name_of_twin(const Scan& scan, const ScanPoint& point) {
  const ScanPoint* twin = &scan.points[*point.same_as];
  for (const ScanPoint& other : scan.points)
    if (twin->current && other.current && other.knob == point.knob) twin = &other;
  return twin->knob.empty() ? twin->value.text() : twin->knob + "=" + twin->value.text();
}

ScanRow row_of(const Scan& scan, size_t at, const Config& now) {
  const ScanPoint& point = scan.points[at];
  ScanRow row;
  row.point = at;
  row.value = point.value.value;
  row.text = point.value.text();
  const auto held = now.knobs.find(point.knob);
  row.current = held != now.knobs.end() && held->second == row.value;
  row.warning = joined(point.warnings, {}, " ");
  if (point.same_as && (!point.current || point.knob.empty())) row.same_as = name_of_twin(scan, point);
  if (point.refused) {
    row.state = ScanState::refused;
    row.verdict = word_of(ScanState::refused);
    row.reason = point.refused->message;
    row.hint = point.refused->hint;
  } else if (const Observation* run = scan.timed(at)) {
    take_run(row, *run);
  }
  return row;
}

bool reliable(const ScanRow& row) { return row.state == ScanState::timed && row.warning.empty(); }

void rank(const Scan& scan, ScanSeries& series) {
  const Observation* current = nullptr;
  for (const ScanRow& row : series.rows)
    if (row.current) current = scan.timed(row.point);
  for (size_t at = 0; at < series.rows.size(); ++at) {
    ScanRow& row = series.rows[at];
    if (row.us) {
      series.least = series.least > 0 ? std::min(series.least, *row.us) : *row.us;
      series.most = std::max(series.most, *row.us);
    }
    if (row.us && current != nullptr && current->timing && !row.current)
      row.change = standing_of(*current, *scan.timed(row.point));
    if (reliable(row) && (!series.best || *row.us < *series.rows[*series.best].us)) series.best = at;
  }
  if (!series.best) return;
  series.rows[*series.best].best = true;
  const Observation& best = *scan.timed(series.rows[*series.best].point);
  for (size_t at = 0; at < series.rows.size(); ++at)
    series.rows[at].tie = at != *series.best && reliable(series.rows[at]) &&
                          standing_of(best, *scan.timed(series.rows[at].point)).outcome == Outcome::tie;
}

}  // namespace

bool ScanSeries::over() const {
  return std::ranges::none_of(rows, [](const ScanRow& row) { return row.state == ScanState::waiting; });
}

std::vector<ScanSeries> scan_series(const Scan& scan, const Config* now) {
  std::vector<ScanSeries> all;
  for (size_t at = 0; at < scan.points.size(); ++at) {
    if (all.empty() || all.back().knob != scan.points[at].knob) all.push_back({scan.points[at].knob, {}, {}, 0, 0});
    all.back().rows.push_back(row_of(scan, at, now != nullptr ? *now : scan.held.config));
  }
  for (ScanSeries& series : all) rank(scan, series);
  return all;
}

std::string best_sentence(const ScanSeries& series) {
  if (!series.over()) return "";
  if (!series.best) return "no value is correct";
  const ScanRow& best = series.rows[*series.best];
  std::vector<std::string> equal;  // in the values' order
  bool current = false;
  for (const ScanRow& row : series.rows)
    if (row.best || row.tie) {
      equal.push_back(row.text);
      current = current || row.current;
    }
  std::string text =
      joined(equal, {}, " and ") + (equal.size() > 1 ? " are fastest and cannot be told apart" : " is fastest");
  if (current) return text + (equal.size() > 1 ? "; one is the current value" : ", and the current value");
  if (best.change && best.change->outcome == Outcome::faster)
    text += fmt::format(", {} against the current value", change_text(*best.change));
  return text;
}

}  // namespace attnscope::charts
