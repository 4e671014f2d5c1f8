#pragma once
#include <string>
#include <vector>

#include "core/command_words.h"
#include "core/kernel.h"
#include "session/session.h"

namespace attnscope::ui {

// The program's commands for a terminal, with the experiment that the knobs describe.
enum class CommandKind { run, export_config, best, bench };

struct CommandLine {
  std::vector<std::string> arguments;  // after the program's name
  std::string refusal;                 // why no command line can express this experiment, or empty
};

// `preset` is the loaded preset's file as long as nothing changed since loading: it carries compile options, which the
// command line cannot express. `out` is the folder that an export writes.
CommandLine command_line(CommandKind kind, const Draft& draft, const Kernel* kernel, const std::string& preset,
                         const std::string& out);

}  // namespace attnscope::ui
