#include "charts/latency_chart.h"

#include <algorithm>
#include <cmath>

#include "charts/format.h"

namespace attnscope::charts {
namespace {

LatencyColumn column_of(const Run& run, int x) {
  LatencyColumn column;
  column.run = run.id;
  column.x = x;
  column.change = run.change;
  column.config_text = run.config_text;
  if (!run.observation) return column;
  const Observation& seen = *run.observation;
  column.kernel = seen.experiment.kernel;
  column.device = seen.experiment.device;
  column.problem = short_text(seen.experiment.problem);
  if (seen.verdict) column.verdict = seen.verdict->state;
  if (seen.timing) {
    column.state = ColumnState::timed;
    column.kind = seen.timing->kind;
    column.p10 = seen.timing->p10;
    column.p50 = seen.timing->p50;
    column.p90 = seen.timing->p90;
    column.interval_low = seen.timing->interval_low;
    column.interval_high = seen.timing->interval_high;
  }
  if (seen.failure) {
    column.failure = to_string(seen.failure->stage);
    column.state = ColumnState::failed;
  }
  return column;
}

void add_to_series(LatencyChart& chart, size_t index) {
  const LatencyColumn& column = chart.columns[index];
  for (LatencySeries& series : chart.series)
    if (series.kind == column.kind && series.device == column.device) {
      series.columns.push_back(index);
      return;
    }
  chart.series.push_back({column.kind, column.device, {index}});
}

}  // namespace

void append(LatencyChart& chart, std::span<const Run> runs) {
  for (const Run& run : runs) {
    chart.columns.push_back(column_of(run, static_cast<int>(chart.columns.size())));
    const LatencyColumn& column = chart.columns.back();
    if (column.state != ColumnState::timed) continue;
    add_to_series(chart, chart.columns.size() - 1);
    chart.top_us = std::max({chart.top_us, column.p50, column.p90, column.interval_high});
  }
}

std::optional<size_t> LatencyChart::previous_comparable(size_t index) const {
  if (index >= columns.size() || columns[index].state != ColumnState::timed) return std::nullopt;
  const LatencyColumn& last = columns[index];
  for (size_t at = index; at-- > 0;) {
    const LatencyColumn& column = columns[at];
    if (column.state == ColumnState::timed && column.kind == last.kind && column.device == last.device &&
        column.problem == last.problem)
      return at;
  }
  return std::nullopt;
}

Change change_between(const LatencyColumn& before, const LatencyColumn& after) {
  Change change;
  if (before.p50 <= 0) return change;
  change.ratio = after.p50 / before.p50;
  const bool overlap = before.interval_high >= after.interval_low && after.interval_high >= before.interval_low;
  change.tie = after.p50 == before.p50 || (after.kind == FigureKind::measured && overlap);
  const std::string percent = signed_percent_text(change.ratio - 1);
  if (!change.tie)
    change.text = percent;
  else
    change.text = after.p50 == before.p50 ? "the same" : "a tie (" + percent + ")";
  return change;
}

std::vector<Reported> visible_lines(std::span<const Reported> lines, double top_us, size_t limit) {
  std::vector<Reported> chosen;
  for (const Reported& line : lines)
    if (line.same_config || (line.us > 0 && line.us <= 1.6 * top_us)) chosen.push_back(line);
  std::stable_sort(chosen.begin(), chosen.end(), [](const Reported& a, const Reported& b) {
    return a.same_config != b.same_config ? a.same_config : a.us < b.us;
  });
  if (chosen.size() > limit) chosen.resize(limit);
  return chosen;
}

double nice_top(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
    if (step * power >= value) return step * power;
  return 10 * power;
}

}  // namespace attnscope::charts
