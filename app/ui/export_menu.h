#pragma once
#include <functional>
#include <string>

#include "charts/figure.h"
#include "ui/context.h"

namespace attnscope::ui {

// What may leave the window from one place. The functions are called when it does.
struct Leaving {
  std::string name;                          // of the file, without its ending: "latency"
  std::function<charts::Figure()> figure{};  // empty: there is no plot
  std::function<charts::Sheet()> sheet{};    // empty: the figure's; without either only a picture leaves
};

// A right click into the current window opens a menu that saves and copies it, and the shown run.
void export_menu(Context& context, const Leaving& leaving);
// The same lines for a menu that is open already.
void export_items(Context& context, const Leaving& leaving);
// A run's own lines: as JSON, as a command line.
void run_items(Context& context, const Observation& run);

// The program's command that repeats the run; `refusal` says why there is none.
struct RunLine {
  std::string words, refusal;
};
RunLine run_line(const session::Snapshot& snapshot, const Observation& run);

// A run as its file has it, and the history as a table.
std::string json_of(const Observation& run);
charts::Sheet sheet_of(const session::History& history);

}  // namespace attnscope::ui
