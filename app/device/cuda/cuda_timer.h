#pragma once
#include <cstddef>
#include <memory>

#include "cuda_api/nvml.h"
#include "device/cuda/gpu_kernel.h"
#include "device/cuda/gpu_program.h"
#include "device/cuda/own_kernels.h"
#include "device/launch.h"
#include "measure/sampling.h"

namespace attnscope::device {

// Reads a GPU's clock, power and temperature. Without NVML, all of them are unknown.
class GpuMeter {
 public:
  GpuMeter() = default;
  GpuMeter(std::shared_ptr<const cuda_api::Nvml> nvml, cuda_api::Nvml::Gpu* gpu) : nvml_(std::move(nvml)), gpu_(gpu) {}
  measure::Conditions read();

 private:
  std::shared_ptr<const cuda_api::Nvml> nvml_;
  cuda_api::Nvml::Gpu* gpu_ = nullptr;
  double last_all_ms_ = 0;
};

struct CudaTimerParts {
  OwnKernels* kernels = nullptr;  // owned by the device, which outlives the timer
  std::shared_ptr<const GpuProgram> program;
  LaunchRequest request;
  std::shared_ptr<const GpuKernel> empty;  // null: times hot launches; otherwise cold ones
  size_t l2_bytes = 0;
  GpuMeter meter;
  std::function<void()> on_launch;  // called after every launch that ended; may be empty
};

// Times a launch as docs/measuring.md describes: hot, or cold if parts.empty is set.
Result<std::unique_ptr<measure::Source>> make_cuda_timer(CudaTimerParts parts);

}  // namespace attnscope::device
