#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/words.h"
#include "report/bench_report.h"
#include "report/rbk_config.h"

namespace attnscope {
namespace report {

// The conditions that a kernel must meet before it is merged.
enum class GateKind { compiles, correct, not_slower, gain, documented };

}  // namespace report

template <>
struct Words<report::GateKind> {
  using enum report::GateKind;
  static constexpr WordTable<report::GateKind, 5> table{{{compiles, "compiles"},
                                                         {correct, "correct"},
                                                         {not_slower, "not slower"},
                                                         {gain, "gain"},
                                                         {documented, "documented"}}};
};

namespace report {

struct Gate {
  GateKind kind = GateKind::compiles;
  std::optional<bool> passed;  // empty: unknown
  std::string why;             // one sentence
};

// The gates of one entry.
struct Merge {
  size_t entry = 0;
  std::vector<Gate> gates;
  bool passes() const;  // True if every gate passed.
};

// The gates of every kernel of ours. The baseline has only the gates that need no baseline. `documented`: for each
// entry, whether its manifest describes it.
std::vector<Merge> gates_of(const BenchReport& report, const RbkConfig& config, const std::vector<bool>& documented);

// Whether an output is also within these tolerances: true if the largest error is within atol, or if the verdict's own
// tolerances are no wider and no element was outside them. Empty if that is unknown.
std::optional<bool> within(const Cell& cell, const Tolerances& tolerances);

}  // namespace report
}  // namespace attnscope
