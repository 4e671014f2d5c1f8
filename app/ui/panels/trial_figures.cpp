// The plots of a sweep for export: the trials that the brushes select.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/with_commas.h"
#include "ui/panels/trial_plots.h"

namespace attnscope::ui {
namespace {

using sweep::Trial;
using sweep::TrialColumn;
using sweep::Trials;

charts::FigureAxis axis_of(const TrialColumn& column) {
  charts::FigureAxis axis{column.name, column.least, column.most, column.logarithmic(), {}};
  if (column.is_knob()) {
    axis.low = -0.5;
    axis.high = std::max(0.5, double(column.labels.size()) - 0.5);
    for (size_t at = 0; at < column.labels.size(); ++at) axis.marks.emplace_back(double(at), column.labels[at]);
    return axis;
  }
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    axis.marks.emplace_back(column.at(share), column.text(column.at(share)));
  if (axis.high <= axis.low) axis.high = axis.low + 1;
  return axis;
}

charts::Sheet sheet_of(const BrushedTrials& brushed) {
  const Trials& trials = brushed.all();
  charts::Sheet sheet;
  sheet.columns = {"rank", "tie", "us", "kind", "verdict", "config"};
  for (const TrialColumn& column : trials.columns) sheet.columns.push_back(column.name);
  for (const uint32_t row : brushed.rows()) {
    const Trial& trial = trials.rows[row];
    std::vector<charts::Cell>& cells = sheet.rows.emplace_back();
    cells = {trial.rank > 0 ? charts::Cell(static_cast<int64_t>(trial.rank)) : charts::Cell(),
             std::string(trial.tie ? "yes" : "no"),
             trial.us ? charts::Cell(*trial.us) : charts::Cell(),
             trial.us ? charts::Cell(std::string(word_of(trial.kind))) : charts::Cell(),
             trial.verdict,
             trial.text};
    for (const TrialColumn& column : trials.columns)
      if (const double value = column.values[row]; std::isnan(value))
        cells.emplace_back();
      else if (column.is_knob())
        cells.emplace_back(column.text(value));
      else
        cells.emplace_back(value);
  }
  return sheet;
}

std::string note_of(const BrushedTrials& brushed) {
  return fmt::format("{} of {} trials", with_commas(std::ssize(brushed.rows())),
                     with_commas(std::ssize(brushed.all().rows)));
}

}  // namespace

charts::Figure ScatterPlot::figure(const BrushedTrials& brushed) const {
  const Trials& trials = brushed.all();
  const TrialColumn &x = trials.columns.at(x_), &y = trials.columns.at(y_.value_or(0));
  charts::Figure made;
  made.title = y.name + " against " + x.name;
  made.note = note_of(brushed);
  made.x = axis_of(x);
  made.y = axis_of(y);
  for (const uint32_t row : brushed.rows()) {
    const Trial& trial = trials.rows[row];
    if (std::isnan(x.values[row]) || std::isnan(y.values[row])) continue;
    charts::FigurePoint& point = made.points.emplace_back();
    point.x = x.values[row];
    point.y = point.low = point.high = y.values[row];
    point.kind = trial.kind;
    point.fault = trial.rank == 0;
    if (trial.rank == 1 && !trial.tie) point.label = trial.text;
  }
  made.sheet = sheet_of(brushed);
  return made;
}

// Axes are side by side, each from its smallest to its largest value.
charts::Figure ParallelPlot::figure(const BrushedTrials& brushed) {
  const Trials& trials = brushed.all();
  charts::Figure made;
  made.title = "Knobs and figures of each trial";
  made.note = note_of(brushed) + "; each axis goes from its least at the bottom to its most at the top";
  made.x = {"", -0.3, std::max(1.0, double(trials.columns.size()) - 1) + 0.3, false, {}};
  made.y = {"", 0, 1, false, {}};
  for (size_t column = 0; column < trials.columns.size(); ++column)
    made.x.marks.emplace_back(double(column), trials.columns[column].name);
  for (const uint32_t row : brushed.drawn()) {
    charts::FigureLine& line = made.lines.emplace_back();
    line.dashed = trials.rows[row].rank == 0;
    for (size_t column = 0; column < trials.columns.size(); ++column)
      if (const double value = trials.columns[column].values[row]; !std::isnan(value))
        line.points.emplace_back(double(column), trials.columns[column].share(value));
  }
  made.sheet = sheet_of(brushed);
  return made;
}

}  // namespace attnscope::ui
