#pragma once
#include <optional>
#include <string>

#include "core/kernel.h"

namespace attnscope::explain {

// A loop with a step that only the run knows. To unroll it, the compiler divides by the step: it counts the loop's
// runs. The code of that division stands at any line of the loop.
//
// If line `line` of `file` is in a loop and its text has no division of integers, the line of the loop's `for` or
// `while` in that file. `divides_floats`: its machine code divides floats. Nothing for a kernel that is machine code.
std::optional<int> loop_whose_runs_are_counted(const Kernel& kernel, const std::string& file, int line,
                                               bool divides_floats);

}  // namespace attnscope::explain
