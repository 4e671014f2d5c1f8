#pragma once
#include <functional>
#include <string>

#include "ui/context.h"

namespace attnscope::ui {

// Draws everything in its scope as the part's state requires: fresh figures unchanged, older ones dimmed. part_note()
// draws the line that names the experiment of older figures.
class PartScope {
 public:
  PartScope(const Context& context, session::Part part);
  ~PartScope();
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  bool dimmed_;
};

// One line that names the experiment of the figures if it is not that of the knobs: "the run before: BLOCK_M=32
// NUM_WARPS=4", "picked in the history: run 3". Otherwise it shows `plain`, and `full` on hover. The line always takes
// its space, so that nothing jumps.
void part_note(const Context& context, session::Part part, const std::string& plain, const std::string& full = "");

// A thin line at the panel's top edge while an experiment runs: a share if it is known, otherwise a moving piece.
void progress_line(const Context& context);

// The failure's title, message and hint; with `again`, also a button that calls it.
void failure_box(const Failure& failure, const char* id, const std::function<void()>& again = {});

// Draws the failure box if the shown experiment failed in a stage that this readout reports. If it failed in another
// stage, one line says which readout reports it. Returns true if a box was drawn.
bool failure_view(Context& context, Readout readout);

// Centred text for a panel with nothing to show yet.
void empty_state(const char* icon, const std::string& headline, const std::string& words);

}  // namespace attnscope::ui
