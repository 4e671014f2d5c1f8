#pragma once
#include <functional>
#include <memory>
#include <string>

#include "cuda_api/cupti.h"
#include "device/cuda/gpu.h"
#include "device/cuda/gpu_program.h"
#include "device/pc_samples.h"

namespace attnscope::device {

// A program with a launch of it, in the order in which they end.
struct SampledWork {
  std::shared_ptr<const GpuProgram> program;
  std::unique_ptr<GpuWork> work;
};

// Samples where the GPU's warps are while the program runs, as often as it takes for enough samples. `load` loads it:
// CUPTI knows only code that is loaded after sampling is on. The calling thread has entered `gpu`; `name` is the kernel
// with its config; `on_step` is called after each launch and each call that may take long. Failures: Stage::device
// (CUPTI refuses, or gives what makes no sense), Stage::launch, those of `load`.
Result<PcSamples> sample_on_gpu(Gpu& gpu, const cuda_api::CuptiCalls& cupti, const std::string& name,
                                const std::function<Result<SampledWork>()>& load, const std::function<void()>& on_step);

}  // namespace attnscope::device
