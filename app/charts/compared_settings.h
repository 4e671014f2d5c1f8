#pragma once
#include <vector>

#include "charts/tables.h"
#include "core/kernel.h"

namespace attnscope::charts {

// The requested settings in which two runs differ: kernel, problem and device, then knobs in the kernels' order, then
// compile options. A knob that only one run has is "–" for the other. `before_kernel` and `after_kernel` supply labels;
// null if the kernel is no longer loaded.
std::vector<ComparedRow> compared_settings(const Experiment& before, const Experiment& after,
                                           const Kernel* before_kernel, const Kernel* after_kernel);

}  // namespace attnscope::charts
