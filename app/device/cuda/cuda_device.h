#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "compile/compiler.h"
#include "cuda_api/cublas.h"
#include "cuda_api/cupti.h"
#include "cuda_api/driver_calls.h"
#include "cuda_api/nvml.h"
#include "device/device.h"

namespace attnscope::device {

// Shared by all GPUs of a process.
struct CudaParts {
  std::shared_ptr<const cuda_api::DriverCalls> calls;
  std::shared_ptr<const cuda_api::Nvml> nvml;   // null: clocks and power are unknown
  std::shared_ptr<compile::Compiler> compiler;  // for our own kernels, such as the reference and the empty kernel
  std::filesystem::path kernels;                // the folder of our kernels' sources, assets/gpu
  // Opens cuBLAS when a routine first needs it. Empty: there is no cuBLAS.
  std::function<Result<cuda_api::CublasCalls>()> cublas = {};
  // Set only in a process that reads hardware counters: CUPTI, opened before any context, or why it did not open.
  std::shared_ptr<const Result<cuda_api::CuptiCalls>> cupti = {};
};

// The GPUs of this machine, "cuda:0" first. `twins` provide the rates for their compute capability. Creates no context
// yet. Failure: Stage::device.
Result<std::vector<std::unique_ptr<Device>>> make_cuda_devices(const CudaParts& parts,
                                                               const std::vector<DeviceSpec>& twins);

}  // namespace attnscope::device
