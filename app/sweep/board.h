#pragma once
#include <string>
#include <vector>

#include "charts/scan_rows.h"
#include "core/scan.h"
#include "search/space.h"
#include "search/strategy.h"

namespace attnscope::sweep {

// The points of such a scan that may win, in order: correct, and timed for as long as any other.
std::vector<size_t> accepted_points(const Scan& scan);

// A config that cannot win.
struct Rejected {
  std::string config;  // short_text
  std::string why;     // the files' word, such as "limits" or "wrong"; people see its label()
  std::string reason, hint;
  std::string common;  // the reason by which it is counted
};

// The results of a sweep.
struct Board {
  Scan accepted;  // in the order in which they were tried
  // Points of `accepted`, fastest first, with those that cannot be told apart from it.
  std::vector<charts::ScanRow> rows;
  std::vector<Rejected> rejected;  // excluded ones first
};

// charts::scan_series() decides which row is fastest and which ones tie with it.
Board board_of(const Scan& scan, const std::vector<search::Excluded>& excluded, const Kernel& kernel);

// The reason that most of them share: "192 of 192: asks 57,376 B …". `excluded` must not be empty.
std::string most_common(const std::vector<search::Excluded>& excluded);

// The points of `scan` with the fastest config and its ties, leaving out points that have another's time.
std::vector<size_t> leaders_of(const Scan& scan);
// The scan with only these points, which must be in order. A point that was timed in another's place gets that time as
// its own.
Scan only(const Scan& scan, const std::vector<size_t>& points);

// The request for a sweep.
struct Plan {
  Kernel kernel;
  Experiment held;
  search::Space space;
  search::StrategyKind strategy = search::StrategyKind::exhaustive;
  size_t budget = 0;  // 0: none
  uint64_t seed = 0;
  std::string model;  // the device that ranked; empty: none
  std::vector<std::string> kernel_dirs;
};

struct Counts {
  size_t tried = 0, known = 0;
};

}  // namespace attnscope::sweep
