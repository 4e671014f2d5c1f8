#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "report/bench_run.h"
#include "report/gates.h"
#include "report/rbk_config.h"

namespace attnscope::report {

// A benchmark over robust-kbench's grid.
struct RbkReport {
  RbkConfig config;
  std::vector<size_t> rows;  // of each shape, the row of the benchmark; shapes with one problem share it
  BenchReport bench;
  BenchState state;  // its samples
  std::vector<Merge> merges;
};

// robust-kbench's rbk_report.json: `results` and `summary` with its keys and units (ms), and for each result also kind,
// interval, config, verdict, errors and the ratios to the fastest peer and the baseline. Beside them what was not
// timed, with its reason, the gates, and what the figures were taken with. A modelled time has no samples, so no p95,
// p99, mean or deviation.
Json to_json(const RbkReport& report);
// rbk_report.csv, with robust-kbench's columns and ours after them.
std::string as_csv(const RbkReport& report);
// rbk_report.md.
std::string as_markdown(const RbkReport& report);
// One page without scripts that loads nothing: gates, a table a shape, and the picture.
std::string as_html(const RbkReport& report);

// A cell of the report's tables.
struct RbkCell {
  const RbkShape* shape = nullptr;
  const Row* row = nullptr;
  size_t entry = 0;
  const Cell* cell = nullptr;
  const Ratio* to_peer = nullptr;      // the fastest timed one of the row
  const Ratio* to_baseline = nullptr;  // null: there is none, or it is the baseline itself
};
std::vector<RbkCell> cells_of(const RbkReport& report);

// "5 of 5 gates", "3 of 5 gates: not correct; gain is not known"
std::string gates_text(const Merge& merge);

}  // namespace attnscope::report
