#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "catalog/import.h"
#include "core/result.h"

namespace attnscope::cli {

// What machine code does not say of a launch, as text of the command line.
struct LaunchText {
  std::string grid, block;  // "16" or "ceil_div(n, 256),8,1": up to three expressions
  std::string shared;       // bytes of dynamic shared memory, an expression
  // The parameters in order: "n=4096" a size, "2.5:f32" a value, "x:in:f32:n" a buffer (name, role, type, elements) and
  // its contents, "x:in:i32:n:iota".
  std::string args;
  bool empty() const { return grid.empty() && block.empty() && shared.empty() && args.empty(); }
};

// Whether a file is a source or machine code, by its name's ending.
bool is_code_file(const std::filesystem::path& file);

// A first manifest for a kernel in machine code. The number of parameters and their sizes are its own; the rest is
// `launch`'s, or that of a Triton cache: FILE.json beside FILE.cubin has the name, the warps and the dynamic shared
// memory. `id` as import_kernel has it. Failure (Stage::input, Stage::decode): the kernel is not there, or a part of
// the launch is not known, with the options that say it.
Result<catalog::Imported> import_code(const std::filesystem::path& file, std::string_view bytes,
                                      const std::string& entry, const LaunchText& launch, const std::string& id = "");

}  // namespace attnscope::cli
