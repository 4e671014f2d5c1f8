#pragma once
#include <string>

#include "core/experiment.h"
#include "core/kernel.h"

namespace attnscope::session {

// How `other` differs from `wanted`, in a few words: "NUM_WARPS=4", "minimal", "S333 …, BLOCK_M=16 fast_math=off". It
// names only differences. Equal experiments give "the run before". `kernel` is that of `other` and supplies labels.
std::string difference_text(const Experiment& other, const Experiment& wanted, const Kernel* kernel);

// Names the step from one experiment to the next as a gesture: "NUM_WARPS 4 → 8", "kernel tiled → mma", or "run again"
// if they are equal. `kernel` is that of `to` and supplies labels; null: numbers are used.
std::string step_text(const Experiment& from, const Experiment& to, const Kernel* kernel);

}  // namespace attnscope::session
