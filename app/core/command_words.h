#pragma once
#include <string>
#include <vector>

#include "core/config.h"
#include "core/experiment.h"
#include "core/problem.h"

namespace attnscope {

// An experiment as arguments of the program's command line.

// The value of --problem: "B=1,H=8,S=512,D=64,causal=top_left".
std::string problem_words(const Problem& problem);

// {"--set", "NUM_WARPS=8", …}: the knobs that differ from the kernel's defaults.
std::vector<std::string> setting_words(const Config& config, const Kernel& kernel);

// {"attnscope", "run", "--kernel", "tiled", …}: the command that runs the draft. Its config must be complete.
std::vector<std::string> run_words(const Draft& draft, const Kernel& kernel);

// {"attnscope", "run", "--kernels", "my kernels", "--kernel", "scale"}: the command that runs a kernel of a folder.
std::vector<std::string> run_words(const std::string& folder, const std::string& kernel);

// The words as shell input, quoted where necessary.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace attnscope
