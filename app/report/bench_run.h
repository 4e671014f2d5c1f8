#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "report/bench_report.h"

namespace attnscope::report {

// What a benchmark times: rows by entries.
struct BenchPlan {
  BenchReport head;  // device, versions, entries and rows with their problems; the rows' cells are empty
  int64_t blocks = 12;
  int64_t block_ms = 100;
};

// Identifies the plan; it changes with the problem, kernel text, config, device or policy. XXH3-128 in hex.
std::string plan_hash(const BenchPlan& plan);

// What is known about one entry in one row.
struct CellTaken {
  std::optional<Cell> first;            // from the first pass: whether it can run at all, and a modelled time
  std::vector<measure::Rounds> blocks;  // us: the samples of each later pass
};

// The progress of a benchmark, without a pass that was cut short.
struct BenchState {
  std::string plan;                           // plan_hash
  std::vector<std::vector<CellTaken>> taken;  // [row][entry]
  std::vector<int64_t> passes;                // done in each row, including the first
};
Json to_json(const BenchState& state);
// Failure (Stage::input) if it is not a state, or belongs to another plan.
Result<BenchState> state_from_json(const Json& json, const BenchPlan& plan, const std::string& where);

struct BenchProgress {
  size_t row = 0, entry = 0;
  int64_t done = 0, total = 0;         // number of runs
  std::optional<double> left_seconds;  // estimated from the runs so far
};

struct BenchCalls {
  // Runs an entry in a row once. A measured timing must have its samples (Sampling::rounds).
  std::function<Observation(size_t row, size_t entry)> run;
  std::function<void(const BenchState&)> save;  // called after every pass over a row
  std::function<void(const BenchProgress&)> on_progress;
  std::function<double()> now_seconds;
  std::function<bool()> enough;  // called before every run; true ends the benchmark; may be empty
  std::function<std::string(size_t entry, const Config&)> config_text;  // returns Cell::config
};

// Times the plan from `state` on. Returns false if it ended early. Goes row by row; each row has several passes over
// its entries, every second one backwards, so that a drift of the clock affects all equally. The first pass compiles,
// warms up and finds out which entries can run the problem; its times are dropped. It is the only pass if times are
// modelled, and for an entry whose single launch takes longer than three passes; such a time has no interval. A failure
// in a later pass makes the entry "not applicable" with its reason.
bool run_bench(const BenchPlan& plan, const BenchCalls& calls, BenchState& state);

// The report of the state's samples, with the ratio of every entry to every peer in its row. If the plan ended early,
// the rows that were not started say so. `date` is copied into it.
BenchReport report_of(const BenchPlan& plan, const BenchState& state, std::string date);

}  // namespace attnscope::report
