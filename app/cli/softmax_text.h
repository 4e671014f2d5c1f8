#pragma once
#include <cstdint>
#include <string>

#include "core/kernel.h"
#include "core/result.h"
#include "core/softmax_steps.h"

namespace attnscope::cli {

// A row's online softmax, one line per key tile. With `tile` (from 1; 0: none), also that tile's scores, weights and O.
// Failure (Stage::input): there is no such tile.
Result<std::string> softmax_text(const SoftmaxSteps& steps, const Kernel& kernel, int64_t tile);

}  // namespace attnscope::cli
