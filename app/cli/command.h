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

// A subcommand registers its options on `app` and, if it is the one chosen, leaves what is to be run in `chosen`. It
// runs after all of the command line was accepted; its value is the exit status.
using Chosen = std::function<int()>;

void add_run(CLI::App& app, Chosen& chosen);
void add_compare(CLI::App& app, Chosen& chosen);
void add_bench(CLI::App& app, Chosen& chosen);
void add_best(CLI::App& app, Chosen& chosen);
void add_export(CLI::App& app, Chosen& chosen);
void add_kernels(CLI::App& app, Chosen& chosen);
void add_devices(CLI::App& app, Chosen& chosen);
void add_presets(CLI::App& app, Chosen& chosen);
void add_shot(CLI::App& app, Chosen& chosen);
void add_worker(CLI::App& app, Chosen& chosen);
void add_doctor(CLI::App& app, Chosen& chosen);
void add_fetch(CLI::App& app, Chosen& chosen);
void add_import(CLI::App& app, Chosen& chosen);
void add_window(CLI::App& app, Chosen& chosen);  // no subcommand: the window

// Every subcommand, as --help lists them.
inline constexpr void (*kCommands[])(CLI::App&, Chosen&) = {add_window, add_run,     add_compare, add_bench,   add_best,
                                                            add_export, add_kernels, add_devices, add_presets, add_shot,
                                                            add_worker, add_doctor,  add_fetch,   add_import};

// The only places that write to the terminal, each through terminal_text(): a title or a worker's words never carry an
// escape sequence there.
// Writes one result to stdout with a line end. stdout holds only results; everything else goes to stderr. What
// stdout does not take makes the exit status (cli/program.h).
void print_result(const std::string& text);
// Writes a line to stderr.
void print_note(const std::string& text);
// Writes a line to stderr, where it is a terminal over the one before; an empty one takes that away.
void print_over(const std::string& text);
// What the program logs goes to stderr the same way.
void start_log();

}  // namespace attnscope::cli
