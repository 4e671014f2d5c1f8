#pragma once
#include <functional>
#include <string>

#include "ui/context.h"

namespace attnscope::ui {

// Draws what stands between it and its end as the part's state asks: fresh figures plain, kept ones dimmed. The line
// that names the experiment that kept figures are of is drawn by part_note.
class PartScope {
 public:
  PartScope(const Context& context, session::Part part);
  ~PartScope();
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  bool dimmed_;
};

// One line that says which experiment the figures are of when it is not the one the knobs ask for: "the run before:
// BLOCK_M=32 NUM_WARPS=4", "picked in the history: run 3"; else `plain`, with `full` on hover. It takes its line in
// either case, so that nothing jumps.
void part_note(const Context& context, session::Part part, const std::string& plain, const std::string& full = "");

// A thin line over the panel's top edge while an experiment runs: a share when it is known, else a moving piece.
void progress_line(const Context& context);

// What happened, message and hint; with `again`, a button that calls it.
void failure_box(const Failure& failure, const char* id, const std::function<void()>& again = {});

// The failure box when the shown experiment failed in a stage that is this readout's to tell; else one line that says
// where it is told, when it failed at all. True when a box was drawn.
bool failure_view(Context& context, Readout readout);

// Centred words for a panel with nothing to show yet.
void empty_state(const char* icon, const std::string& headline, const std::string& words);

}  // namespace attnscope::ui
