#pragma once
#include <string>

#include "core/kernel.h"
#include "core/observation.h"

namespace attnscope::charts {

// What holds the kernel back, with the counted figure that shows it where there is one: "bound by shared memory: 74.7 %
// of its wavefronts are bank conflicts". Empty where the timing says no bound.
std::string bound_sentence(const Observation& seen);

// What tells this config from the kernel's own defaults: "tiled NUM_WARPS=8 SHARED=dynamic, fast math off", or "tiled,
// every knob at its default". `kernel` is the experiment's; null where it is not known any more: then `full` stands
// behind the kernel's name.
std::string config_words(const Experiment& experiment, const Kernel* kernel, const std::string& full);

}  // namespace attnscope::charts
