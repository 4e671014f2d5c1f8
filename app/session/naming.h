#pragma once
#include <string>

#include "core/experiment.h"
#include "core/kernel.h"

namespace attnscope::session {

// What tells `other` from `wanted`, in few words: "NUM_WARPS=4", "minimal", "S333 …, BLOCK_M=16 fast_math=off". Only
// what differs is named. Two equal experiments are told apart by time alone: "the run before". `kernel` is other's, for
// labels.
std::string difference_text(const Experiment& other, const Experiment& wanted, const Kernel* kernel);

// The step from one experiment to the next as a gesture says it: "NUM_WARPS 4 → 8", "kernel tiled → mma"; "run
// again" where they are equal. `kernel` is the second's, for labels; null: numbers.
std::string step_text(const Experiment& from, const Experiment& to, const Kernel* kernel);

}  // namespace attnscope::session
