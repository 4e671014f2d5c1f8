#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "catalog/import.h"
#include "core/result.h"

namespace attnscope::cli {

// What machine code does not say about its launch, as text of the command line.
struct LaunchText {
  std::string grid, block;  // "16" or "ceil_div(n, 256),8,1": up to three expressions
  std::string shared;       // bytes of dynamic shared memory, as an expression
  // The parameters in order: "n=4096" is a size, "2.5:f32" a value, "x:in:f32:n" a buffer (name, role, type, elements),
  // optionally with its contents, "x:in:i32:n:iota".
  std::string args;
  bool cooperative = false;  // all CTAs exist at once, as grid.sync() needs
  bool empty() const { return grid.empty() && block.empty() && shared.empty() && args.empty() && !cooperative; }
};

// True if the file is a source or machine code, by the ending of its name.
bool is_code_file(const std::filesystem::path& file);

// A first manifest for a kernel in machine code. The number and sizes of its parameters come from the code; the rest
// from `launch`, or from a Triton cache: FILE.json beside FILE.cubin has the name, the warps and the dynamic shared
// memory. `id`: see import_kernel(). Failure (Stage::input, Stage::decode): the kernel is missing, or a part of the
// launch is unknown; the hint names the options that give it.
Result<catalog::Imported> import_code(const std::filesystem::path& file, std::string_view bytes,
                                      const std::string& entry, const LaunchText& launch, const std::string& id = "");

}  // namespace attnscope::cli
