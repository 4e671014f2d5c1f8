#pragma once
#include <string>
#include <vector>

#include "core/command_words.h"
#include "core/kernel.h"
#include "session/session.h"

namespace attnscope::ui {

// The program's commands that can be shown for the experiment on the knobs.
enum class CommandKind { run, export_config, best, bench, import_file };

struct CommandLine {
  std::vector<std::string> arguments;  // after the program's name
  std::string refusal;                 // why no command line can express this experiment; empty if one can
};

// `preset` is the loaded preset's file if nothing has changed since loading: it carries compile options, which the
// command line cannot express. `out` is the folder that an export writes. `worker` has the draft's device; null: the
// session has no such worker.
CommandLine command_line(CommandKind kind, const Draft& draft, const Kernel* kernel, const std::string& preset,
                         const std::string& out, const session::WorkerStatus* worker = nullptr);

// Imports a .cu file, or machine code, into that folder of kernels.
CommandLine import_line(const std::string& file, const std::string& folder);

}  // namespace attnscope::ui
