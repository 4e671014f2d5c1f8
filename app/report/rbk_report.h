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
  std::vector<size_t> rows;  // for each shape, its row in the benchmark; shapes with the same problem share a row
  BenchReport bench;
  BenchState state;  // holds the samples
  std::vector<Merge> merges;
};

// robust-kbench's rbk_report.json: `results` and `summary` with its keys and units (ms), and for each result also kind,
// interval, config, verdict, errors and the ratios to the fastest peer and the baseline. It also lists what was not
// timed, with the reason, the gates, and the conditions of the figures. A modelled time has no samples, so it has no
// p95, p99, mean or deviation.
Json to_json(const RbkReport& report);
// rbk_report.csv, with robust-kbench's columns followed by ours.
std::string as_csv(const RbkReport& report);
// rbk_report.md.
std::string as_markdown(const RbkReport& report);
// One page without scripts that loads nothing: the gates, a table per shape, and the picture.
std::string as_html(const RbkReport& report);

// A cell of the report's tables.
struct RbkCell {
  const RbkShape* shape = nullptr;
  const Row* row = nullptr;
  size_t entry = 0;
  const Cell* cell = nullptr;
  const Ratio* to_peer = nullptr;      // to the fastest timed peer of the row
  const Ratio* to_baseline = nullptr;  // null: there is none, or this is the baseline
};
std::vector<RbkCell> cells_of(const RbkReport& report);

// "5 of 5 gates", "3 of 5 gates: not correct; gain is not known"
std::string gates_text(const Merge& merge);

}  // namespace attnscope::report
