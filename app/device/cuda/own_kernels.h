#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "check/reference.h"
#include "compile/compiler.h"
#include "device/cuda/gpu.h"
#include "device/cuda/gpu_kernel.h"

namespace attnscope::device {

// Our own kernels in assets/gpu for one GPU: compiled and loaded when first needed, then kept.
class OwnKernels {
 public:
  OwnKernels(std::shared_ptr<Gpu> gpu, std::shared_ptr<compile::Compiler> compiler, std::filesystem::path folder,
             int arch)
      : gpu_(std::move(gpu)), compiler_(std::move(compiler)), folder_(std::move(folder)), arch_(arch) {}

  const std::shared_ptr<Gpu>& gpu() const { return gpu_; }
  // "inputs", "poison", "judge", "softmax" or "empty", for tensors of `dtype`.
  Result<std::shared_ptr<const GpuKernel>> load(const std::string& name, DType dtype);
  // "reference", the fp64 attention, or "softmax_pv": for the problem's dtype and head_dim.
  Result<std::shared_ptr<const GpuKernel>> load_for(const std::string& name, const Problem& problem,
                                                    check::Accumulate accumulate = check::Accumulate::f32);

 private:
  Result<std::shared_ptr<const GpuKernel>> load(const std::string& name, DType dtype,
                                                const std::map<std::string, int64_t>& macros);

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<compile::Compiler> compiler_;
  std::filesystem::path folder_;
  int arch_;
  std::map<std::string, std::shared_ptr<const GpuKernel>> loaded_;
};

// Launches one of our kernels with the struct `parameters` as its only parameter, and waits for it.
Result<void> run_own_kernel(Gpu& gpu, const GpuKernel& kernel, int64_t ctas, int64_t threads,
                            std::span<const std::byte> parameters);

}  // namespace attnscope::device
