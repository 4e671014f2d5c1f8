#pragma once
#include <memory>

#include "check/guarded_buffer.h"
#include "check/inputs.h"
#include "core/problem.h"
#include "device/cuda/gpu.h"
#include "device/parameters.h"

namespace attnscope::device {

// A problem's inputs and output on a GPU, each between canaries.
class GpuTensors {
 public:
  // Uploads the inputs and a poisoned output.
  static Result<GpuTensors> make(std::shared_ptr<Gpu> gpu, const Problem& problem,
                                 std::shared_ptr<const check::AttentionInputs> inputs);
  TensorAddresses addresses() const;
  const std::shared_ptr<const check::AttentionInputs>& inputs() const { return inputs_; }

  // Poison and canaries as at first.
  Result<void> renew_output();
  // The output as it stands. Failure (Stage::launch) when a canary of it was touched.
  Result<std::shared_ptr<const check::GuardedBuffer>> take_output() const;
  // Failure (Stage::launch) naming the input that was written, or whose canaries were.
  Result<void> check_inputs() const;

 private:
  Problem problem_;
  std::shared_ptr<const check::AttentionInputs> inputs_;
  check::InputHashes hashes_;
  GpuMemory q_, k_, v_, o_;
};

}  // namespace attnscope::device
