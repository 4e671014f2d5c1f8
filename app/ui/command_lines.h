#pragma once
#include <string>
#include <vector>

#include "core/kernel.h"
#include "session/session.h"

namespace attnscope::ui {

// What the program does from a terminal, with the experiment that the knobs ask for.
enum class CommandKind { export_config, best, bench };

struct CommandLine {
  std::vector<std::string> arguments;  // after the program's name
  std::string refusal;                 // why no command line says this experiment; empty: it does
};

// `preset` is the loaded preset's file while nothing was changed since: it carries compile options, which the command
// line has no words for. `out` is the folder that an export writes.
CommandLine command_line(CommandKind kind, const session::Draft& draft, const Kernel* kernel, const std::string& preset,
                         const std::string& out);

// "B=1,H=8,S=512,D=64,causal=top_left": what --problem takes.
std::string problem_words(const Problem& problem);

// The words as a shell takes them, quoted where they have to be.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace attnscope::ui
