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
// after the whole command line was accepted; its result is the exit status.
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
AddCommand add_window;  // without a subcommand: the window

// Every subcommand, in the order of --help.
inline constexpr AddCommand* kCommands[] = {
    add_window,   add_run,     add_check,    add_watch_file, add_explain, add_disasm,  add_timeline,
    add_counters, add_compare, add_bench,    add_report,     add_best,    add_results, add_export,
    add_kernels,  add_devices, add_validate, add_scan,       add_sweep,   add_micro,   add_presets,
    add_lesson,   add_shot,    add_worker,   add_doctor,     add_fetch,   add_import};

// The functions below are the only ones that write to the terminal. Each uses terminal_text(), so that a title or a
// worker's text never brings an escape sequence there. print_result() writes one result to stdout with a line end.
// stdout has only results; everything else goes to stderr. If stdout does not take a write, that determines the exit
// status (cli/program.h).
void print_result(const std::string& text);
// Writes a line to stderr.
void print_note(const std::string& text);
// Progress as a number of parts out of a total; 0 of 0: unknown.
struct PartsDone {
  size_t done = 0, of = 0;
};
// Writes a line to stderr; on a terminal it replaces the previous one, and an empty line clears it.
void print_over(const std::string& text, PartsDone parts = {});
// Writes a failure to stderr: stage and message, and the hint on the next line.
void print_failure(const Failure& failure);
// True if a program reads stderr ($ATTNSCOPE_NOTES is "json"). Each line is then a JSON object: {"note": text},
// {"progress": {text, done, of}} or {"failure": {stage, message, hint}}.
bool notes_are_json();
// Sends the program's log to stderr in the same way.
void start_log();

}  // namespace attnscope::cli
