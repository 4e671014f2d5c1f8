#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "compile/cubin.h"
#include "core/result.h"
#include "device/cuda/gpu.h"
#include "model/occupancy.h"

namespace attnscope::device {

// A kernel loaded on one GPU.
class GpuKernel {
 public:
  // Failure (Stage::decode): a cubin that cannot be read or that the GPU does not accept.
  static Result<std::shared_ptr<const GpuKernel>> load(std::shared_ptr<Gpu> gpu, const compile::Variant& variant);
  ~GpuKernel();
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  // The same machine code, loaded again at another address.
  Result<std::shared_ptr<const GpuKernel>> once_more() const;

  const compile::CubinKernel& info() const { return info_; }
  std::span<const std::byte> cubin() const { return *cubin_; }
  // Allows this much dynamic shared memory at launch, opting in above 48 KB.
  Result<void> opt_in(int64_t dynamic_shared) const;
  // Queues a launch on the GPU's stream; returns CUDA's code. `parameters` is the whole block; the driver copies it.
  int launch(const model::LaunchShape& shape, int64_t dynamic_shared, std::vector<std::byte>& parameters) const;

 private:
  GpuKernel(std::shared_ptr<Gpu> gpu, std::shared_ptr<const std::vector<std::byte>> cubin, compile::CubinKernel info)
      : gpu_(std::move(gpu)), cubin_(std::move(cubin)), info_(std::move(info)) {}
  Result<void> load();
  int launch_cooperative(cuda_api::LaunchConfig config, std::vector<std::byte>& parameters) const;

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<const std::vector<std::byte>> cubin_;
  compile::CubinKernel info_;
  cuda_api::Module module_ = nullptr;
  cuda_api::Function function_ = nullptr;
};

}  // namespace attnscope::device
