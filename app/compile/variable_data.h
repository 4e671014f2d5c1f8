#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "compile/compiler.h"
#include "core/result.h"

namespace attnscope::compile {

// Puts `data` into the initial contents of the variant's __constant__ variable `name` (or an initialised __device__
// one), as a host's cudaMemcpyToSymbol would before the launch; the machine code then runs with it on any device.
// Failure (Stage::input): there is no such variable (Failure::absent_variable), it has no initial contents, or its size
// differs.
Result<void> fill_variable(Variant& variant, const std::string& name, std::span<const std::byte> data);

// True if the variant has such a variable; the compiler leaves out variables that its kernel does not read.
bool has_variable(const Variant& variant, const std::string& name);

}  // namespace attnscope::compile
