#pragma once
#include <filesystem>
#include <string>

#include "core/result.h"

namespace attnscope::platform {

// The folders where the program keeps and finds its files. Getting them creates nothing.
struct Paths {
  std::filesystem::path cache;   // may be deleted at any time: variants, references, decoded programs, fetched packages
  std::filesystem::path config;  // settings, the user's presets and kernels
  std::filesystem::path data;    // results, journal
};

// By the XDG base directory specification, with "attnscope" below each; if $ATTNSCOPE_HOME is set, it holds all three
// instead. Relative values of the XDG variables are ignored, as the specification requires. A missing $HOME is a
// Failure (Stage::store).
Result<Paths> user_paths();

// The folder with assets/, kernels/, presets/ and shaders/: $ATTNSCOPE_RESOURCES, otherwise ../share/attnscope beside
// the executable's folder, otherwise the source tree that this program was built from. Failure (Stage::store) if there
// is none.
Result<std::filesystem::path> resources();

// The path of the running program's file.
Result<std::filesystem::path> own_executable();

// The value of an environment variable; empty if it is not set.
std::string environment(const char* name);

}  // namespace attnscope::platform
