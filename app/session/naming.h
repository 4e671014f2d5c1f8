#pragma once
#include <string>

#include "core/experiment.h"
#include "core/kernel.h"

namespace attnscope::session {

// How `other` differs from `wanted`, in few words: "NUM_WARPS=4", "minimal", "S333 …, BLOCK_M=16 fast_math=off". It
// names only differences. Two equal experiments differ only in time: "the run before". `kernel` is other's, for labels.
std::string difference_text(const Experiment& other, const Experiment& wanted, const Kernel* kernel);

// The step from one experiment to the next, as a gesture's name: "NUM_WARPS 4 → 8", "kernel tiled → mma"; "run again"
// if they are equal. `kernel` is the second's, for labels; null: numbers.
std::string step_text(const Experiment& from, const Experiment& to, const Kernel* kernel);

}  // namespace attnscope::session
