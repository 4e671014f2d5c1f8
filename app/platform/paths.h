#pragma once
#include <filesystem>
#include <string>

#include "core/result.h"

namespace attnscope::platform {

// Where the program keeps and finds things. Asking creates nothing.
struct Paths {
  std::filesystem::path cache;   // may be deleted at any time: variants, references, decoded programs, fetched packages
  std::filesystem::path config;  // settings, the user's presets and kernels
  std::filesystem::path data;    // results, journal
};

// By the XDG base directory specification, "attnscope" below each; $ATTNSCOPE_HOME, if set, holds all three instead.
// Relative values of the XDG variables are ignored, as the specification asks. A missing $HOME is a Failure
// (Stage::store).
Result<Paths> user_paths();

// The folder that holds assets/, kernels/, presets/ and shaders/: $ATTNSCOPE_RESOURCES, else ../share/attnscope beside
// the executable's folder, else the source tree that this program was built from. Failure (Stage::store) if there is
// none.
Result<std::filesystem::path> resources();

// The file of the running program.
Result<std::filesystem::path> own_executable();

// An environment variable; empty when unset.
std::string environment(const char* name);

}  // namespace attnscope::platform
