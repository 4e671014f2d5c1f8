#pragma once
#include <memory>
#include <string>
#include <vector>

#include "check/guarded_buffer.h"
#include "device/cuda/own_kernels.h"
#include "device/launch.h"

namespace attnscope::device {

// The buffers of a launch on a GPU, in the order of the request's operands (q, k, v, o for attention), each between
// canaries.
class GpuTensors {
 public:
  virtual ~GpuTensors() = default;
  // True if these are the buffers of the request.
  virtual bool are_of(const LaunchRequest& request) const = 0;
  virtual std::vector<uint64_t> addresses() const = 0;
  // Resets outputs and their canaries to their state before a run: poison, or the contents that the operand's init
  // gives.
  virtual Result<void> renew_outputs() = 0;
  // The judged outputs in their present state. Failure (Stage::launch) if a canary was overwritten.
  virtual Result<std::vector<std::shared_ptr<const check::GuardedBuffer>>> take_outputs() const = 0;
  // Failure (Stage::launch) that names an input that was written, or one with an overwritten canary.
  virtual Result<void> check_inputs() const = 0;
};

// Copies the contents of `memory` and the canaries around them to the host. Failure (Stage::launch) if a canary was
// overwritten.
Result<check::GuardedBuffer> fetch_guarded(const GpuMemory& memory, const std::string& name);

// The request's buffers in their state before a run. Attention's are made on the GPU; a workload's operands are
// uploaded.
Result<std::unique_ptr<GpuTensors>> make_tensors(OwnKernels& kernels, const LaunchRequest& request);

}  // namespace attnscope::device
