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

// A launch of what is exported: the kernel's only one, or one of a program.
struct ExportedLaunch {
  Kernel kernel;  // with its entry and arguments
  catalog::Launch launch;
  std::shared_ptr<const compile::Variant> variant;
  std::string stem;  // of its cubin and PTX; launches of one entry share them
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
  // In order; `launch` and `variant` are the first one's. Attention's templates need none.
  std::vector<ExportedLaunch> launches = {};
};

// The call of nvcc that compiles the exported source: NVRTC's options as nvcc spells them, as a line of sh.
std::string nvcc_line(const Export& e);
// The kernel's source with its knobs as macros.
std::string source_of(const Export& e);
// A template of assets/export, filled in. `@NAME@` is a figure or an expression in the template's language;
// `@NAME:FORMAT@` is a text from outside, escaped for its context: comment, c_comment, c_string, python, markdown or
// code.
Result<std::string> filled(const std::string& form, const Export& e);

}  // namespace attnscope::cli
