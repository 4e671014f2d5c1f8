#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attnscope::store {

// A worker on another machine, or behind a queue, and the command that reaches it.
struct NamedWorker {
  std::string name;               // in front of its devices: "l4box" in "l4box/cuda:0"
  std::vector<std::string> argv;  // {"ssh", "l4box", "attnscope", "worker"}
  bool operator==(const NamedWorker&) const = default;
};

// A command as a shell splits it: by blanks, with '…', "…" and \ keeping them; nothing is expanded. An open quote or no
// word at all is a Failure (Stage::input).
Result<std::vector<std::string>> command_words(std::string_view command);

// Those of a settings file: {"workers": {"l4box": "ssh l4box attnscope worker"}}, in the order of their names. No file,
// or none in it, is none. Failures (Stage::store) name the file and the entry.
Result<std::vector<NamedWorker>> read_named_workers(const std::filesystem::path& settings);

// What --worker was given: the name of one of `known`, NAME=COMMAND, or a COMMAND, whose worker is then called after
// the machine that ssh is to reach or else the program. Stage::input when it is none of them.
Result<NamedWorker> worker_of(const std::string& text, const std::vector<NamedWorker>& known);

}  // namespace attnscope::store
