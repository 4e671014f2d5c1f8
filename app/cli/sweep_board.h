#pragma once
#include <string>
#include <vector>

#include "charts/scan_rows.h"
#include "core/json_fwd.h"
#include "core/scan.h"
#include "search/space.h"
#include "search/strategy.h"

namespace attnscope::cli {

// Timed, correct, and nothing that a watch found makes the output unreliable: only such a config can win.
bool is_accepted(const Observation& observation);

// A config that cannot win.
struct Rejected {
  std::string config;  // short_text
  std::string why;     // a word or two: "limit", "wrong", "race"
  std::string reason, hint;
  std::string common;  // the reason by which it is counted
};

// What came of a sweep.
struct SweepBoard {
  Scan accepted;                      // in the order in which they were tried
  std::vector<charts::ScanRow> rows;  // of `accepted`, the fastest first, with what cannot be told apart from it
  std::vector<Rejected> rejected;     // excluded ones first
};

// The rows of `charts::scan_series` decide which one is fastest and what ties with it.
SweepBoard board_of(const Scan& scan, const std::vector<search::Excluded>& excluded, const Kernel& kernel);

// The points of `scan` that hold the fastest config and its ties, each point that was timed once.
std::vector<size_t> leaders_of(const Scan& scan);

// What a sweep was asked.
struct SweepPlan {
  Kernel kernel;
  Experiment held;
  search::Space space;
  search::StrategyKind strategy = search::StrategyKind::exhaustive;
  size_t budget = 0;  // 0: none
  uint64_t seed = 0;
  std::string model;  // the device that ranked; empty: none
  std::vector<std::string> kernel_dirs;
};

struct SweepCounts {
  size_t tried = 0, known = 0;
};

std::string text_of(const SweepBoard& board, const SweepPlan& plan, const SweepCounts& counts, bool all);
Json to_json(const SweepBoard& board, const SweepPlan& plan, const SweepCounts& counts);

}  // namespace attnscope::cli
