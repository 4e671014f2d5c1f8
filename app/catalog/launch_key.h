#pragma once
#include <string>

#include "core/config.h"
#include "core/kernel.h"
#include "core/problem.h"

namespace attnscope::catalog {

// Everything that a run passes to a config's machine code, as one text: grid, block, shared memory, arguments, buffers
// and the type used for judging. Two configs of a kernel with equal machine code and equal keys are the same run.
// `config` must be complete.
std::string launch_key(const Kernel& kernel, const Problem& problem, const Config& config);

}  // namespace attnscope::catalog
