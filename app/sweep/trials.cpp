#include "sweep/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "charts/format.h"
#include "core/headline.h"
#include "core/joined.h"
#include "core/options.h"
#include "sweep/board.h"

namespace attnscope::sweep {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Trial trial_of(const charts::ScanRow& row, size_t point, const Observation* run) {
  Trial trial;
  trial.point = point;
  trial.text = row.text;
  trial.watched = run != nullptr && run->watch.has_value();
  trial.us = row.us;
  trial.kind = row.kind;
  trial.verdict = row.verdict;
  trial.reason = row.reason;
  trial.hint = row.hint;
  trial.same_as = row.same_as;
  return trial;
}

// A figure of a run; NaN if it has none.
using FigureOf = double (*)(const Observation& run);
struct FigureColumn {
  const char* name;
  std::string (*words)(double);
  FigureOf of;
};
constexpr FigureColumn kFigures[] = {
    {"time", charts::us_text, [](const Observation& run) { return run.timing ? run.timing->p50 : kNone; }},
    {"registers", charts::count_text,
     [](const Observation& run) { return run.variant ? static_cast<double>(run.variant->registers) : kNone; }},
    {"shared", [](double bytes) { return charts::bytes_text(static_cast<int64_t>(bytes)); },
     [](const Observation& run) {
       return run.variant ? static_cast<double>(run.variant->static_shared_bytes + run.variant->dynamic_shared_bytes)
                          : kNone;
     }},
    {"occupancy", charts::percent_text,
     [](const Observation& run) { return run.occupancy ? run.occupancy->fraction : kNone; }},
    {"rel. error", charts::error_text,
     [](const Observation& run) {
       return run.verdict && run.verdict->state != VerdictState::unchecked ? run.verdict->rel_frobenius : kNone;
     }},
};

void set_limits(TrialColumn& column) {
  if (column.is_knob()) {
    column.most = static_cast<double>(column.labels.size() - 1);
    return;
  }
  bool any = false;
  for (const double value : column.values) {
    if (!std::isfinite(value)) continue;
    column.least = any ? std::min(column.least, value) : value;
    column.most = any ? std::max(column.most, value) : value;
    any = true;
  }
}

TrialColumn axis_column(const search::Axis& axis, const Kernel& kernel, const Scan& scan,
                        const std::vector<Trial>& rows) {
  TrialColumn column;
  column.name = axis.knob;
  const Knob* knob = kernel.find_knob(axis.knob);
  for (const int64_t value : axis.values) {
    const KnobValue* known = axis.option || knob == nullptr ? nullptr : knob->find(value);
    column.labels.push_back(axis.option        ? option_value_text(axis.knob, value)
                            : known != nullptr ? known->text()
                                               : std::to_string(value));
  }
  for (const Trial& row : rows) {
    const auto at = std::ranges::find(axis.values, axis.value_in(scan.points[row.point].config));
    column.values.push_back(at == axis.values.end() ? kNone : static_cast<double>(at - axis.values.begin()));
  }
  set_limits(column);
  return column;
}

// A trial's name leaves out what all trials have in common.
void name_by_columns(Trials& trials) {
  for (size_t row = 0; row < trials.rows.size() && !trials.columns.empty(); ++row)
    trials.rows[row].text = joined(
        trials.columns, [row](const TrialColumn& knob) { return knob.name + "=" + knob.text(knob.values[row]); }, " ");
}

}  // namespace

double TrialColumn::share(double value) const {
  if (most <= least) return 0.5;
  if (logarithmic()) return std::log(std::max(value, least) / least) / std::log(most / least);
  return (value - least) / (most - least);
}

double TrialColumn::at(double share) const {
  if (most <= least) return least;
  if (logarithmic()) return least * std::pow(most / least, share);
  return least + share * (most - least);
}

std::string TrialColumn::text(double value) const {
  if (!std::isfinite(value)) return "";
  if (!is_knob()) return words(value);
  const auto position = static_cast<size_t>(std::clamp(std::round(value), least, most));
  return labels.at(position);
}

Trials trials_of(const Scan& scan, const search::Space& space, const Kernel& kernel) {
  Trials trials;
  std::vector<size_t> ended;
  for (size_t at = 0; at < scan.points.size(); ++at)
    if (scan.points[at].ended()) ended.push_back(at);
  const Scan part = only(scan, ended);
  const Board board = board_of(part, {}, kernel);
  const std::vector<size_t> accepted = accepted_points(part);
  for (const charts::ScanRow& row : board.rows) {
    Trial trial = trial_of(row, ended[accepted[row.point]], part.timed(accepted[row.point]));
    trial.tie = row.tie;
    trial.rank = row.tie ? 1 : trials.rows.size() + 1;
    trials.rows.push_back(std::move(trial));
  }
  for (const charts::ScanSeries& series : charts::scan_series(part))
    for (const charts::ScanRow& row : series.rows)
      if (!std::ranges::binary_search(accepted, row.point)) {
        Trial& trial = trials.rows.emplace_back(trial_of(row, ended[row.point], part.timed(row.point)));
        if (const Observation* run = part.timed(row.point); run != nullptr && trial.reason.empty() && is_accepted(*run))
          trial.reason = fmt::format("dropped after up to {} ms", run->experiment.measure.max_time_ms);
      }
  for (const search::Axis& axis : space.axes)
    if (axis.values.size() > 1) trials.columns.push_back(axis_column(axis, kernel, scan, trials.rows));
  name_by_columns(trials);
  for (const FigureColumn& figure : kFigures) {
    TrialColumn column{figure.name, figure.words, {}, {}};
    for (const Trial& row : trials.rows) {
      const Observation* run = scan.timed(row.point);
      column.values.push_back(run != nullptr ? figure.of(*run) : kNone);
    }
    set_limits(column);
    trials.columns.push_back(std::move(column));
  }
  return trials;
}

std::vector<uint32_t> brushed(const Trials& trials, const std::vector<Brush>& brushes) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < trials.rows.size(); ++row)
    if (std::ranges::all_of(brushes, [&](const Brush& brush) {
          const double value = trials.columns[brush.column].values[row];
          return value >= brush.low && value <= brush.high;  // NaN is in no interval
        }))
      rows.push_back(row);
  return rows;
}

}  // namespace attnscope::sweep
