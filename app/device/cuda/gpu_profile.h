#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "core/observation.h"
#include "cuda_api/cupti.h"
#include "device/cuda/gpu.h"
#include "device/cuda/gpu_program.h"

namespace attnscope::device {

// Reads the GPU's own counters while `work` runs: once before, so that the caches are hot, and then as often as the
// counters need passes, each after the one before has ended. The calling thread has entered `gpu`; `name` is the kernel
// with its config. `on_pass` is called when CUPTI is set up, after the first launch and after each pass. Failures:
// Stage::device (CUPTI refuses: a GPU without support, no permission, counters that another program holds),
// Stage::launch.
Result<HardwareCounters> profile_on_gpu(Gpu& gpu, const cuda_api::CuptiCalls& cupti, const std::string& name,
                                        GpuWork& work, const std::function<void(int64_t done, int64_t total)>& on_pass);

}  // namespace attnscope::device
