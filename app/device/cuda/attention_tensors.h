#pragma once
#include <array>
#include <memory>
#include <vector>

#include "check/inputs.h"
#include "core/problem.h"
#include "device/cuda/gpu.h"
#include "device/cuda/own_kernels.h"
#include "device/cuda/tensors.h"

namespace attnscope::device {

// Attention's q, k, v and o. assets/gpu/inputs.cu makes the inputs on the GPU, and makes them again after the run to
// check that they are unchanged, so they never cross the bus.
class AttentionTensors final : public GpuTensors {
 public:
  // Makes the inputs and a poisoned output.
  static Result<std::unique_ptr<GpuTensors>> make(OwnKernels& kernels, const Problem& problem);
  bool are_of(const LaunchRequest& request) const override { return !request.operands && request.problem == problem_; }
  std::vector<uint64_t> addresses() const override;  // of q, k, v and o
  Result<void> renew_outputs() override;
  Result<std::vector<std::shared_ptr<const check::GuardedBuffer>>> take_outputs() const override;
  Result<void> check_inputs() const override;

 private:
  struct Input {
    const char* name;
    check::Tensor stream;
    GpuMemory memory;
  };
  Result<void> run_inputs(const Input& input, cuda_api::DevicePointer differing) const;

  Problem problem_;
  std::shared_ptr<const GpuKernel> inputs_kernel_, poison_kernel_;
  std::shared_ptr<Gpu> gpu_;
  std::array<Input, 3> inputs_{{{"q", check::Tensor::q, {}}, {"k", check::Tensor::k, {}}, {"v", check::Tensor::v, {}}}};
  GpuMemory o_;
};

}  // namespace attnscope::device
