// attnscope's only entry point. Parses the command line and calls one subcommand of cli/.
#include <CLI/CLI.hpp>

#include <sstream>
#include <string_view>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/exit_status.h"
#include "cli/program.h"

namespace {

// True for an empty path or value, as an unset variable of a shell leaves it. Treating it as "not given" would do
// something else than was asked for, and report success.
bool is_empty_value(std::string_view argument) {
  return argument.empty() || (argument.starts_with("--") && argument.find('=') == argument.size() - 1);
}

int parse_and_run(int argc, char** argv) {
  using namespace attnscope::cli;
  for (int at = 1; at < argc; ++at)
    if (is_empty_value(argv[at]))
      return report({attnscope::Stage::input, "argument " + std::to_string(at) + " is empty",
                     "Give a value; a variable of the shell may be unset."});
  CLI::App app{"attnscope: an oscilloscope for attention kernels on NVIDIA GPUs", "attnscope"};
  app.set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 correct or unchecked, 1 ran and wrong or racy, 2 bad input, 3 refused, 4 hung or crashed and was "
      "ended.");
  Chosen chosen;
  for (const auto add : kCommands) add(app, chosen);
  for (CLI::App* command : app.get_subcommands({}))
    command->set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int status = app.exit(error, out, err);
    if (!out.str().empty()) print_result(out.str());
    if (std::string said = err.str(); !said.empty()) {
      if (said.back() == '\n') said.pop_back();
      print_note(said);
    }
    return status == 0 ? kCorrectOrUnchecked : kBadInput;
  }
  if (auto in_order = check_nothing_before_subcommand(app); !in_order) return report(in_order.error());
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  return attnscope::cli::run_program([&] {
    attnscope::cli::start_log();
    return parse_and_run(argc, argv);
  });
}
