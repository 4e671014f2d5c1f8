#pragma once
#include <string>

#include "core/comparable.h"
#include "core/kernel.h"
#include "core/observation.h"

namespace attnscope::charts {

// What limits the kernel, with the counted figure that shows it if there is one: "bound by shared memory: 74.7 % of its
// wavefronts are bank conflicts". Empty if the timing has no bound.
std::string bound_sentence(const Observation& seen);

// Why two runs are not comparable, with both sides: "B1 H8 S512 D64 against B1 H8 S4096 D64 causal". Empty if they
// are comparable.
std::string unlike_sentence(const Observation& a, const Observation& b);

// How this config differs from the kernel's defaults: "tiled NUM_WARPS=8 SHARED=dynamic, fast math off", or "tiled,
// every knob at its default". `kernel` is the experiment's; if it is null, because it is no longer loaded, `full`
// follows the kernel's name.
std::string config_words(const Experiment& experiment, const Kernel* kernel, const std::string& full);

// For a program: the launch whose registers, shared memory and occupancy the observation has, "launch 2 of 3, exp_sum,
// the longest". Empty if there is one launch.
std::string longest_launch_words(const Observation& seen);

}  // namespace attnscope::charts
