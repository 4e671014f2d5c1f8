#pragma once
#include <string>
#include <vector>

#include "charts/scan_rows.h"
#include "core/scan.h"
#include "search/space.h"
#include "search/strategy.h"

namespace attnscope::sweep {

// Of such a scan's points, those that may win, in order: correct, and timed for as long as any.
std::vector<size_t> accepted_points(const Scan& scan);

// A config that cannot win.
struct Rejected {
  std::string config;  // short_text
  std::string why;     // a word or two: "limit", "wrong", "race"
  std::string reason, hint;
  std::string common;  // the reason by which it is counted
};

// What came of a sweep.
struct Board {
  Scan accepted;                      // in the order in which they were tried
  std::vector<charts::ScanRow> rows;  // of `accepted`, the fastest first, with what cannot be told apart from it
  std::vector<Rejected> rejected;     // excluded ones first
};

// The rows of `charts::scan_series` decide which one is fastest and what ties with it.
Board board_of(const Scan& scan, const std::vector<search::Excluded>& excluded, const Kernel& kernel);

// "192 of 192: asks 57,376 B …": the reason that most of them share. At least one.
std::string most_common(const std::vector<search::Excluded>& excluded);

// The points of `scan` that hold the fastest config and its ties, each point that was timed once.
std::vector<size_t> leaders_of(const Scan& scan);
// The scan with only these points, which are in order. A point that was timed in another's place has that one's time by
// itself.
Scan only(const Scan& scan, const std::vector<size_t>& points);

// What a sweep was asked.
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
