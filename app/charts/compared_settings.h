#pragma once
#include <vector>

#include "charts/tables.h"
#include "core/kernel.h"

namespace attnscope::charts {

// What was asked of two runs and differs: kernel, problem, device, then knobs in the kernels' order and compile
// options. A knob that only one of them has is "–" for the other. `before_kernel` and `after_kernel` name the values;
// null where they are not known any more.
std::vector<ComparedRow> compared_settings(const Experiment& before, const Experiment& after,
                                           const Kernel* before_kernel, const Kernel* after_kernel);

}  // namespace attnscope::charts
