#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "charts/code_view.h"

namespace attnscope::charts {

// A's code beside B's: whose figures stand where. Lines of the source are the same lines only in one source.
// Instructions are the same where the diff of the two codes aligns them, whatever their registers.
struct CodeGhost {
  // A's, with its counts scaled to B's share of the CTAs; without lines if A ran another source.
  CodeView view;
  std::vector<int64_t> aligned;                    // by B's instruction: A's; -1: A does not have it
  std::array<bool, kHeatColumns.size()> beside{};  // by column: its figures are known of both and can be compared
  std::string note;                                // what is not beside B's, or is scaled; empty: nothing
  bool knows(HeatColumn column) const { return beside[size_t(column)]; }
  bool has_lines() const { return !view.lines.empty(); }

  // A's figures at that source line, from 0, or beside that instruction of B. Null: the column's figure is not there.
  const Heat* at_line(size_t line, HeatColumn column) const;
  const Heat* at_instruction(size_t instruction, HeatColumn column) const;
};

// One run's code, as code_view() takes it.
struct CodeOf {
  const Listing& listing;
  const Observation& seen;
  const Observation* profiled = nullptr;  // null: no warps were sampled
};
// `source` and `source_lines` are B's.
CodeGhost code_ghost(const CodeOf& a, const CodeOf& b, const SourceLines& source, size_t source_lines);

// A figure with A's: "1.2 k; A 3.4 k", "none; A 12", "1.2 k; A none". `a` null: only B's. Empty: neither has one.
std::string figure_beside(const Heat& b, const Heat* a, HeatColumn column);

}  // namespace attnscope::charts
