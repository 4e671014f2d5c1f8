#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attnscope::store {

inline constexpr const char* kOwnWorker = "local";  // name of the program's own worker, which no other has

// A worker on another machine, or behind a queue, with the command that reaches it.
struct NamedWorker {
  std::string name;               // prefix of its device ids: "l4box" in "l4box/cuda:0"
  std::vector<std::string> argv;  // {"ssh", "l4box", "attnscope", "worker"}
  bool operator==(const NamedWorker&) const = default;
};

// Splits a command as a shell does: at blanks, except inside '…', "…" and after \; expands nothing. An open quote or an
// empty command is a Failure (Stage::input).
Result<std::vector<std::string>> command_words(std::string_view command);

// The workers in a settings file: {"workers": {"l4box": "ssh l4box attnscope worker"}}, ordered by name. Empty if there
// is no file or no entry. Failures (Stage::store) name the file and the entry.
Result<std::vector<NamedWorker>> read_named_workers(const std::filesystem::path& settings);

// The value of --worker: the name of one of `known`, NAME=COMMAND, or a COMMAND. A worker without a name gets that of
// the machine that ssh connects to, or of the program. Failure (Stage::input) for anything else.
Result<NamedWorker> worker_of(const std::string& text, const std::vector<NamedWorker>& known);

// A worker on the machine that ssh knows by that name ("l4box", "me@l4box"), or by the COMMAND that reaches it.
// `name`: empty, or its name. Failure (Stage::input) says what is wrong with the text or the name.
Result<NamedWorker> worker_at(const std::string& host_or_command, const std::string& name);
// The command as one text that command_words() splits into `argv` again.
std::string command_text(const std::vector<std::string>& argv);

}  // namespace attnscope::store
