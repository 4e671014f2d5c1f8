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

// A line of what changed since A. `line`: of the shown source, 0: none; `instruction`: of the shown code, -1: none.
struct ChangeLine {
  enum class Kind { same, removed, added, gap, heading };
  Kind kind = Kind::same;
  std::string text;
  int64_t line = 0, instruction = -1;
};

// The shown experiment's code as the panes draw it, made once for each listing.
class CodeState {
 public:
  // Takes the newest listing, and asks for one that is missing. `lines`: of the kernel's source.
  void refresh(Context& context, const Kernel& kernel, size_t lines);
  // The changes since A; empty with `why`: there is nothing to compare.
  const std::vector<ChangeLine>& changes(Context& context, const Kernel& kernel, std::string& why);
  // What was changed in a copy's source.
  const std::vector<ChangeLine>& edits(const std::string& original, const std::string& now);
  const std::string& changes_summary() const { return summary_; }

  const Listing* listing() const { return listing_.get(); }
  const session::Shared<Listing>& shared_listing() const { return listing_; }
  const charts::CodeView& view() const { return view_; }
  const std::vector<int>& live_registers() const { return live_; }
  const std::vector<charts::PtxLine>& ptx() const { return ptx_; }
  const std::string& missing() const { return missing_; }  // why there is no listing, or that it is on its way

  // The chosen line of the source (from 1; 0: none) and instruction (-1: none). Choosing one lights the other.
  void choose_line(int64_t line);
  void choose_instruction(int64_t at);
  int64_t line() const { return line_; }
  int64_t instruction() const { return instruction_; }
  bool lights_line(int64_t line) const;       // an instruction is chosen that comes from it
  bool lights_instruction(int64_t at) const;  // it comes from the chosen line
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

  std::string original_, edited_;  // what the edits are between
  std::vector<ChangeLine> edits_;
  std::map<std::string, Kernel> kernels_;           // those that were shown, by content: A's source may be edited since
  session::Shared<Listing> changes_a_, changes_b_;  // what the changes are between
  std::vector<ChangeLine> changes_;
  std::string summary_;
};

}  // namespace attnscope::ui
