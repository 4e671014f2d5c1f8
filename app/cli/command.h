#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

// A subcommand registers its options on `app` and, if the user chose it, stores its action in `chosen`. The action runs
// after the whole command line was accepted; its value is the exit status.
using Chosen = std::function<int()>;

using AddCommand = void(CLI::App& app, Chosen& chosen);

AddCommand add_run;
AddCommand add_check;
AddCommand add_watch_file;
AddCommand add_explain;
AddCommand add_disasm;
AddCommand add_timeline;
AddCommand add_counters;
AddCommand add_compare;
AddCommand add_bench;
AddCommand add_report;
AddCommand add_best;
AddCommand add_results;
AddCommand add_validate;
AddCommand add_export;
AddCommand add_kernels;
AddCommand add_devices;
AddCommand add_scan;
AddCommand add_sweep;
AddCommand add_micro;
AddCommand add_presets;
AddCommand add_lesson;
AddCommand add_shot;
AddCommand add_worker;
AddCommand add_doctor;
AddCommand add_fetch;
AddCommand add_import;
AddCommand add_window;  // no subcommand: the window

// Every subcommand, as --help lists them.
inline constexpr AddCommand* kCommands[] = {
    add_window,   add_run,     add_check,    add_watch_file, add_explain, add_disasm,  add_timeline,
    add_counters, add_compare, add_bench,    add_report,     add_best,    add_results, add_export,
    add_kernels,  add_devices, add_validate, add_scan,       add_sweep,   add_micro,   add_presets,
    add_lesson,   add_shot,    add_worker,   add_doctor,     add_fetch,   add_import};

// The only functions that write to the terminal, each through terminal_text(), so that a title or a worker's text never
// brings an escape sequence there. Writes one result to stdout with a line end. stdout holds only results; everything
// else goes to stderr. A write that stdout does not take determines the exit status (cli/program.h).
void print_result(const std::string& text);
// Writes a line to stderr.
void print_note(const std::string& text);
// How far something is: so many parts of so many; 0 of 0: not known.
struct PartsDone {
  size_t done = 0, of = 0;
};
// Writes a line to stderr, on a terminal over the previous one; an empty line clears it.
void print_over(const std::string& text, PartsDone parts = {});
// Writes a failure to stderr: stage and message, and the hint below.
void print_failure(const Failure& failure);
// Whether a program reads stderr ($ATTNSCOPE_NOTES is "json"): each line is then a JSON object, {"note": text},
// {"progress": {text, done, of}} or {"failure": {stage, message, hint}}.
bool notes_are_json();
// Sends the program's log to stderr in the same way.
void start_log();

}  // namespace attnscope::cli
