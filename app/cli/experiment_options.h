#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/result.h"
#include "session/session.h"

namespace CLI {
class App;
}

namespace attnscope::cli {

// The options that name an experiment on the command line, as text. A given option overrides the preset.
struct ExperimentOptions {
  std::string preset;                 // file; empty: none
  std::string kernel;                 // kernel id
  std::vector<std::string> settings;  // KNOB=VALUE
  std::vector<std::string> options;   // NAME=VALUE of a compile option
  std::string problem;                // B=1,H=8,…
  std::string device;
  std::vector<std::string> kernel_dirs;
};

void add_experiment_options(CLI::App& command, ExperimentOptions& options);

struct NamedDraft {
  Draft draft;
  Kernel kernel;
};

// Loads the kernels, reads the preset (the default one unless given) and applies the options.
Result<NamedDraft> draft_of(const ExperimentOptions& options);

// The preset that another experiment is compared with: the same options except kernel and settings, on `device` unless
// that is empty.
Result<NamedDraft> draft_against(ExperimentOptions options, const std::string& preset, const std::string& device);

std::vector<std::string> ids_of(const std::vector<Kernel>& kernels);

}  // namespace attnscope::cli
