#pragma once
#include <string>

#include "core/result.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

// Refuses a preset or an option that stands before the chosen subcommand: it is the window's, and the subcommand would
// ignore it. Call it after `app` was parsed.
Result<void> check_nothing_before_subcommand(const CLI::App& app);

// Refuses a word that the window would open as a preset if there is no such file: it may be a mistyped subcommand.
Result<void> check_file_or_command(const CLI::App& app, const std::string& word);

}  // namespace attnscope::cli
