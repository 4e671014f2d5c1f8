#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "charts/code_diff.h"
#include "charts/code_ghost.h"
#include "charts/code_links.h"
#include "charts/code_view.h"
#include "charts/ptx_lines.h"
#include "charts/shared_view.h"
#include "ui/context.h"
#include "ui/made_aside.h"

namespace attnscope::ui {

// A line of the changes since A. `line` is in the shown source, 0: none; `instruction` is in the shown code, -1: none.
struct ChangeLine {
  enum class Kind { same, removed, added, gap, heading };
  Kind kind = Kind::same;
  std::string text;
  int64_t line = 0, instruction = -1;
};

// What follows from a listing and its source, whatever is known of the run.
struct CodeFacts {
  explicit CodeFacts(const Listing& listing, const SourceLines& source);

  charts::CodeGraph graph;
  std::vector<int> live;  // registers, by instruction
  std::vector<charts::PtxLine> ptx;
  std::vector<charts::BufferUse> buffers;   // of shared memory
  std::vector<int64_t> accesses, matrices;  // the instructions that access shared memory; those with matrices
};

// The shown experiment's code in the form that the panes draw, made once for each listing. Long code is made by another
// thread, because the frame in which it arrives has no time for it; the code before it stays until then.
class CodeState {
 public:
  // Instructions up to which code is made within the frame.
  static constexpr size_t kShort = 2000;

  // Takes the newest listing, and requests a missing one. `lines`: number of lines of the kernel's source.
  void refresh(Context& context, const Kernel& kernel, size_t lines);
  // The changes since A. If there is nothing to compare, it is empty and `why` says so.
  const std::vector<ChangeLine>& changes(Context& context, const Kernel& kernel, std::string& why);
  // The changes in a copy's source.
  const std::vector<ChangeLine>& edits(const std::string& original, const std::string& now);
  std::string changes_summary() const { return changes_.value() ? changes_.value()->summary : ""; }

  const Listing* listing() const { return made().of.listing.get(); }
  const charts::CodeView& view() const { return made().view; }
  const CodeFacts& facts() const { return *made().facts; }  // call only if there is a listing
  uint64_t arrivals() const { return arrivals_; }           // how often listing() became another one
  // A's code beside it; null: there is none. without_a() says why, or what of it is not beside B's.
  const charts::CodeGhost* ghost() const { return made().of.a ? &made().ghost : nullptr; }
  const Listing* listing_a() const { return made().of.a.get(); }
  const std::string& without_a() const { return without_a_.empty() && ghost() != nullptr ? ghost()->note : without_a_; }
  const std::string& missing() const { return missing_; }  // why there is no listing, or that it has been requested
  bool makes() const { return made_.makes() || changes_.makes(); }  // more is drawn soon

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
  // What the code is made of.
  struct Of {
    session::Shared<Listing> listing;
    std::string kernel_hash;
    session::Shared<Observation> seen;
    uint64_t hardware_came = 0;  // readings of GPUs' own counters when the view was made
    session::Shared<Listing> a;  // A's code; null: none is beside it
    session::Shared<Observation> seen_a;
    bool operator==(const Of&) const = default;
  };
  struct Made {
    Of of;
    charts::CodeView view;
    charts::CodeGhost ghost;
    std::shared_ptr<const CodeFacts> facts;
  };
  struct MadeChanges {
    session::Shared<Listing> a, b;
    std::vector<ChangeLine> lines;
    std::string summary;
  };

  session::Shared<Listing> listing_of(Context& context, const Observation& seen);
  void add_a(Context& context, Of& of);
  void take(Of of, const Kernel& kernel, size_t lines, const HardwareDesk& hardware);
  void begin_changes(const Kernel& kernel_a, const Experiment& before, session::Shared<Listing> a,
                     const Kernel& kernel_b);
  const Made& made() const;

  MadeAside<Made> made_;
  Of wanted_;  // what made_ is, or will be
  uint64_t arrivals_ = 0;
  std::string missing_, without_a_;
  int64_t line_ = 0, instruction_ = -1;
  std::vector<charts::CodeLink> producers_, consumers_;

  std::string original_, edited_;  // the two texts that edits_ compares
  std::vector<ChangeLine> edits_;
  // Kernels that were shown, by content hash, because A's source may have been edited since.
  std::map<std::string, Kernel> kernels_;
  session::Shared<Listing> changes_a_, changes_b_;  // the two listings that changes_ compares, or will
  MadeAside<MadeChanges> changes_;
};

}  // namespace attnscope::ui
