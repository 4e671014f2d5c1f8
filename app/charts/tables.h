#pragma once
#include <optional>
#include <string>
#include <vector>

#include "charts/sheet.h"
#include "core/observation.h"

namespace attnscope::charts {

// One figure with its name. `term` is its glossary entry.
struct FigureRow {
  std::string name;
  std::string value;
  std::string note;  // its limit, or its share
  std::string term;
  FigureKind kind = FigureKind::counted;
  bool bad = false;        // it exceeds its limit
  double share = 0;        // of its group's total
  std::string baseline{};  // A's value; empty: there is no A
};

struct FigureGroup {
  std::string title;
  std::vector<FigureRow> rows;
};

// Every figure of a verdict, each with its limit, and beside the baseline's if there is one.
std::vector<FigureRow> verdict_rows(const Verdict& verdict, const Verdict* baseline = nullptr);
// "64 of 512 rows checked"; empty if all were, or none has a reference.
std::string checked_text(const Verdict& verdict);

// The limits of a verdict's figures in one sentence, for where the table has no column for them: "Limits: relative
// Frobenius 0.01, atol and rtol 0.002, no misplaced NaN or Inf; 64 of 512 rows checked". With the baseline's limits, if
// it has others.
std::string limits_text(const Verdict& verdict, const Verdict* baseline = nullptr);

// Counts by group: warp instructions by class (largest first), lanes, shared memory, global memory. The baseline's
// counts are beside them if there is one; a class that only the baseline has gets a row with zero.
std::vector<FigureGroup> counter_groups(const Counters& counters, const Counters* baseline = nullptr);
// A program's steps in order, with time, share of the modelled time and counts of each launch. Empty if there is one
// launch. `baseline`: its steps are shown beside them if they have the same names.
std::vector<FigureGroup> launch_groups(const Observation& seen, const Observation* baseline = nullptr);
// "exact, all 128 CTAs" or "sampled: 43 of 128 CTAs (33.6 %)"
std::string counter_share_text(const Counters& counters);

Sheet sheet_of(const std::vector<FigureGroup>& groups);

// The output's relative Frobenius error; empty if the run compared no element.
std::optional<double> relative_error(const Observation& seen);

// Two observations side by side. `change` is empty if a ratio means nothing; for the latency it is standing_of(). Runs
// of another operation, problem or device are never better or worse.
struct ComparedRow {
  std::string name;
  std::string before, after;
  std::string change;
  int better = 0;  // +1: the second is better, -1: worse, 0: neither
  bool differs = false;
};
std::vector<ComparedRow> compare(const Observation& before, const Observation& after);
Sheet sheet_of(const std::vector<ComparedRow>& rows);

}  // namespace attnscope::charts
