#pragma once
#include <functional>
#include <string>

#include "charts/figure.h"
#include "ui/context.h"

namespace attnscope::ui {

// What a plot or table can export. The functions are called when a person chooses to.
struct Leaving {
  std::string name;                          // the file's name without its ending: "latency"
  std::function<charts::Figure()> figure{};  // empty: there is no plot
  // Empty: taken from the figure; without either, only a picture can be saved.
  std::function<charts::Sheet()> sheet{};
};

// A right click in the current window opens a menu that saves and copies `leaving` and the shown run.
void export_menu(Context& context, const Leaving& leaving);
// The same menu lines, for a menu that is already open.
void export_items(Context& context, const Leaving& leaving);
// The menu lines for a run: as JSON, as a command line.
void run_items(Context& context, const Observation& run);

// The command that repeats the run; `refusal` says why there is none.
struct RunLine {
  std::string words, refusal;
};
RunLine run_line(const session::Snapshot& snapshot, const Observation& run);

// A run as JSON, in the form of its file; and the history as a table.
std::string json_of(const Observation& run);
charts::Sheet sheet_of(const session::History& history);

}  // namespace attnscope::ui
