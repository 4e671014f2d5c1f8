#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "core/observation.h"
#include "cuda_api/cupti.h"
#include "device/cuda/gpu.h"
#include "device/cuda/gpu_program.h"

namespace attnscope::device {

// Reads the GPU's own counters while `work` runs: once to make the caches hot, then once for each pass that the
// counters need. A launch begins after the previous one has ended. The calling thread must have entered `gpu`; `name`
// is the kernel with its config. `on_pass` is called when CUPTI is set up, after the first launch and after each pass.
// Failures: Stage::device (CUPTI refuses: an unsupported GPU, no permission, counters held by another program),
// Stage::launch.
Result<HardwareCounters> profile_on_gpu(Gpu& gpu, const cuda_api::CuptiCalls& cupti, const std::string& name,
                                        GpuWork& work, const std::function<void(int64_t done, int64_t total)>& on_pass);

}  // namespace attnscope::device
