#pragma once
#include <cstdint>
#include <string>

#include "core/kernel.h"
#include "core/result.h"
#include "core/softmax_steps.h"

namespace attnscope::cli {

// A row's online softmax, a line for each key tile; with `tile` (from 1; 0: none) also that tile's scores, what became
// of them, and O. Failure (Stage::input): there is no such tile.
Result<std::string> softmax_text(const SoftmaxSteps& steps, const Kernel& kernel, int64_t tile);

}  // namespace attnscope::cli
