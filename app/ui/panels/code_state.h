#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "charts/code_diff.h"
#include "charts/code_links.h"
#include "charts/code_view.h"
#include "charts/ptx_lines.h"
#include "ui/context.h"

namespace attnscope::ui {

// A line of the changes since A. `line` is in the shown source, 0: none; `instruction` is in the shown code, -1: none.
struct ChangeLine {
  enum class Kind { same, removed, added, gap, heading };
  Kind kind = Kind::same;
  std::string text;
  int64_t line = 0, instruction = -1;
};

// The shown experiment's code in the form that the panes draw, computed once for each listing.
class CodeState {
 public:
  // Takes the newest listing, and requests a missing one. `lines`: number of lines of the kernel's source.
  void refresh(Context& context, const Kernel& kernel, size_t lines);
  // The changes since A. If there is nothing to compare, it is empty and `why` says so.
  const std::vector<ChangeLine>& changes(Context& context, const Kernel& kernel, std::string& why);
  // The changes in a copy's source.
  const std::vector<ChangeLine>& edits(const std::string& original, const std::string& now);
  const std::string& changes_summary() const { return summary_; }

  const Listing* listing() const { return listing_.get(); }
  const session::Shared<Listing>& shared_listing() const { return listing_; }
  const charts::CodeView& view() const { return view_; }
  const std::vector<int>& live_registers() const { return live_; }
  const std::vector<charts::PtxLine>& ptx() const { return ptx_; }
  const std::string& missing() const { return missing_; }  // why there is no listing, or that it has been requested

  // The chosen source line (from 1; 0: none) and instruction (-1: none). Choosing one highlights the other.
  void choose_line(int64_t line);
  void choose_instruction(int64_t at);
  int64_t line() const { return line_; }
  int64_t instruction() const { return instruction_; }
  bool lights_line(int64_t line) const;       // the chosen instruction comes from this line
  bool lights_instruction(int64_t at) const;  // this instruction comes from the chosen line
  const std::vector<charts::CodeLink>& producers() const { return producers_; }
  const std::vector<charts::CodeLink>& consumers() const { return consumers_; }

  charts::HeatColumn column = charts::HeatColumn::time;

 private:
  session::Shared<Listing> listing_of(Context& context, const Observation& seen);
  void take(session::Shared<Listing> listing, session::Shared<Observation> seen, const Kernel& kernel, size_t lines,
            const HardwareDesk& hardware);

  session::Shared<Listing> listing_;
  std::string kernel_hash_;
  session::Shared<Observation> seen_;
  uint64_t hardware_came_ = 0;  // readings of GPUs' own counters when the view was made
  charts::CodeView view_;
  std::optional<charts::CodeGraph> graph_;
  std::vector<int> live_;
  std::vector<charts::PtxLine> ptx_;
  std::string missing_;
  int64_t line_ = 0, instruction_ = -1;
  std::vector<charts::CodeLink> producers_, consumers_;

  std::string original_, edited_;  // the two texts that edits_ compares
  std::vector<ChangeLine> edits_;
  // Kernels that were shown, by content hash, because A's source may have been edited since.
  std::map<std::string, Kernel> kernels_;
  session::Shared<Listing> changes_a_, changes_b_;  // the two listings that the changes compare
  std::vector<ChangeLine> changes_;
  std::string summary_;
};

}  // namespace attnscope::ui
