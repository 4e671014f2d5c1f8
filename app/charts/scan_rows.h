#pragma once
#include <optional>
#include <string>
#include <vector>

#include "charts/standing.h"
#include "core/headline.h"
#include "core/scan.h"

namespace attnscope {
namespace charts {

// The state of one value of a scanned knob. refused: it cannot run. failed: it ran without a result. faulty: its output
// is wrong, or its watch found an error.
enum class ScanState { waiting, refused, failed, faulty, timed };

}  // namespace charts

template <>
struct Words<charts::ScanState> : NamesAsWords<charts::ScanState> {};

namespace charts {

struct ScanRow {
  size_t point = 0;  // index into the scan's points
  int64_t value = 0;
  std::string text;  // of the value
  ScanState state = ScanState::waiting;
  bool current = false;
  bool best = false;         // the fastest reliable value
  bool tie = false;          // it cannot be told apart from the best
  std::optional<double> us;  // median; that of `same_as` if there is one
  FigureKind kind = FigureKind::modelled;
  std::string verdict;             // the files' word; people see its label()
  std::string checked;             // "736 of 4,096 rows checked"; empty: all of them, or there is no reference
  std::string reason;              // why it was refused, failed or is wrong
  std::string hint;                // what to do about it
  std::string warning;             // from the manifest; a value with a warning is never the best
  std::string same_as;             // "NUM_WARPS=4": the value that was timed instead
  std::optional<Standing> change;  // relative to the current value's time
};

struct ScanSeries {
  std::string knob;
  std::vector<ScanRow> rows;   // in the manifest's order
  std::optional<size_t> best;  // index of a row; empty: no value is correct
  bool over() const;
  double least = 0, most = 0;  // us, over the timed rows; 0: none
};

// One series for each knob of the scan, or one for its list of configs. `now` is the config whose values count as
// current; null: the held one.
std::vector<ScanSeries> scan_series(const Scan& scan, const Config* now = nullptr);

// "8 is best, 71.9 % faster than 4", "4 is best and the current value", "8 and 4 cannot be told apart", "no value is
// correct"; empty while values wait.
std::string best_sentence(const ScanSeries& series);

}  // namespace charts
}  // namespace attnscope
