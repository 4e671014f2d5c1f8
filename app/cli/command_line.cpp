#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/command_words.h"
#include "core/near.h"

namespace attnscope::cli {
namespace {

// The words of an option as they are written behind a subcommand.
std::vector<std::string> words_of(const CLI::Option& option) {
  std::vector<std::string> words;
  for (const std::string& value : option.results()) {
    if (!option.get_positional()) words.push_back(option.get_name());
    words.push_back(value);
  }
  return words;
}

// Where the option belongs, if the subcommand has it too: a preset is also a `file`, or --preset.
std::vector<std::string> behind(const CLI::App& command, const CLI::Option& option) {
  std::vector<std::string> words = words_of(option);
  if (!option.get_positional())
    return command.get_option_no_throw(option.get_name()) ? words : std::vector<std::string>();
  if (command.get_option_no_throw("file") && command.get_option_no_throw("--entry")) return words;
  if (!command.get_option_no_throw("--preset")) return {};
  words.insert(words.begin(), "--preset");
  return words;
}

}  // namespace

Result<void> check_nothing_before_subcommand(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return {};
  const CLI::App& command = *chosen.front();
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    std::vector<std::string> words{app.get_name(), command.get_name()};
    const std::vector<std::string> same = behind(command, *option);
    words.insert(words.end(), same.begin(), same.end());
    return fail(Stage::input,
                shell_text(words_of(*option)) + ": what stands before " + command.get_name() + " is for the window",
                same.empty() ? command.get_name() + " does not take it: leave it out."
                             : "Write it behind the subcommand: " + shell_text(words));
  }
  return {};
}

Result<void> check_file_or_command(const CLI::App& app, const std::string& word) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (word.empty() || fs::exists(word, error) || error) return {};
  const fs::path path = word;
  if (path.has_parent_path() || path.has_extension())
    return fail(Stage::input, "there is no file " + word, "Give a preset's file; `attnscope presets` lists presets.");
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return fail(Stage::input, "there is no file or subcommand " + word, names_to_choose(word, names));
}

}  // namespace attnscope::cli
