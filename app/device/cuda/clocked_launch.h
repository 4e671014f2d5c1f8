#pragma once
#include <cstdint>
#include <vector>

#include "core/workload.h"
#include "device/cuda/gpu_program.h"
#include "device/cuda/own_kernels.h"
#include "device/cuda/tensors.h"
#include "device/launch.h"
#include "measure/clock_spans.h"

namespace attnscope::device {

// Launches an instrumented twin (catalog/clock_twin.h) over the request's buffers: once, so that the caches are hot,
// and once more between two readings of every SM's clock. `arguments` are the kernel's; the twin's own comes behind
// them. Failures: Stage::limits (no memory for the clocks), Stage::launch.
Result<measure::ClockSpans> launch_clocked(OwnKernels& kernels, int64_t sms, const LaunchRequest& request,
                                           std::vector<ArgumentValue> arguments, const GpuProgram& twin,
                                           GpuTensors& tensors);

}  // namespace attnscope::device
