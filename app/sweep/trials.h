#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "charts/scan_rows.h"
#include "core/scan.h"
#include "search/space.h"

namespace attnscope::sweep {

// A finished config of a sweep.
struct Trial {
  size_t point = 0;      // in the scan
  std::string text;      // the values of the knobs and options that the sweep chooses
  size_t rank = 0;       // from 1 by time, 1 for each tie with the first; 0: it cannot win
  bool tie = false;      // cannot be told apart from the first
  bool watched = false;  // a watch ran
  std::optional<double> us;
  FigureKind kind = FigureKind::modelled;
  std::string verdict;  // the files' word; people see its label()
  std::string reason;   // why it cannot win
  std::string hint;
  std::string same_as;  // the config that was timed in its place
};

// A knob or a figure, with a value for every trial.
struct TrialColumn {
  std::string name;
  std::string (*words)(double) = nullptr;  // formats a figure with its unit; null: a knob
  std::vector<double> values;              // for each trial; a knob's are positions from 0; NaN: no value
  std::vector<std::string> labels;         // names of a knob's positions
  double least = 0, most = 0;              // smallest and largest value; equal if there is at most one
  bool is_knob() const { return words == nullptr; }
  bool logarithmic() const { return !is_knob() && least > 0 && most > 10 * least; }
  // Maps a value to 0 (the smallest) … 1 (the largest); and back.
  double share(double value) const;
  double at(double share) const;
  std::string text(double value) const;
};

struct Trials {
  std::vector<Trial> rows;           // fastest first, then those that cannot win in the order tried
  std::vector<TrialColumn> columns;  // knobs and options with several values in the space's order, then figures
};

Trials trials_of(const Scan& scan, const search::Space& space, const Kernel& kernel);

// An interval of a column's values, including its ends.
struct Brush {
  size_t column = 0;
  double low = 0, high = 0;
};
// The rows whose values are in all brushes, in order.
std::vector<uint32_t> brushed(const Trials& trials, const std::vector<Brush>& brushes);

}  // namespace attnscope::sweep
