#pragma once
#include <memory>
#include <string>
#include <vector>

#include "catalog/launch.h"
#include "compile/compiler.h"
#include "core/config.h"
#include "core/kernel.h"
#include "core/result.h"

namespace attnscope::cli {

// A launch to export: the kernel's only one, or one of a program's.
struct ExportedLaunch {
  Kernel kernel;  // with the launch's entry and arguments
  catalog::Launch launch;
  std::shared_ptr<const compile::Variant> variant;
  std::string stem;  // of the names of its cubin and PTX; launches of one entry share them
};

// A complete config to export: everything that the files contain.
struct Export {
  Kernel kernel;
  Problem problem;
  Config config;
  int arch = 0;
  catalog::Launch launch;
  std::shared_ptr<const compile::Variant> variant;
  std::string stem;  // "tiled_sm89"
  // In order; `launch` and `variant` are those of the first. Attention's templates need none.
  std::vector<ExportedLaunch> launches = {};
};

// The nvcc command that compiles the exported source, as a line of sh: NVRTC's options as nvcc spells them.
std::string nvcc_line(const Export& e);
// The kernel's source with its knobs as macros.
std::string source_of(const Export& e);
// A template of assets/export, filled in. `@NAME@` is a figure or an expression in the template's language.
// `@NAME:FORMAT@` is text from outside, escaped for its context: comment, c_comment, c_string, python, markdown or
// code.
Result<std::string> filled(const std::string& form, const Export& e);

}  // namespace attnscope::cli
