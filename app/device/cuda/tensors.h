#pragma once
#include <memory>
#include <string>
#include <vector>

#include "check/guarded_buffer.h"
#include "device/cuda/own_kernels.h"
#include "device/launch.h"

namespace attnscope::device {

// The buffers of a launch on a GPU, in the order of the request's operands (attention's are q, k, v, o), each between
// canaries.
class GpuTensors {
 public:
  virtual ~GpuTensors() = default;
  // Whether these are the buffers of the request.
  virtual bool are_of(const LaunchRequest& request) const = 0;
  virtual std::vector<uint64_t> addresses() const = 0;
  // Resets outputs and their canaries to the state before the first run: poison, or what the operand's init says.
  virtual Result<void> renew_outputs() = 0;
  // The judged outputs as they are now. Failure (Stage::launch) when a canary was overwritten.
  virtual Result<std::vector<std::shared_ptr<const check::GuardedBuffer>>> take_outputs() const = 0;
  // Failure (Stage::launch) naming an input that was written, or one with an overwritten canary.
  virtual Result<void> check_inputs() const = 0;
};

// Copies the contents of `memory` and the canaries around them. Failure (Stage::launch) when a canary was overwritten.
Result<check::GuardedBuffer> fetch_guarded(const GpuMemory& memory, const std::string& name);

// The request's buffers as they are before a run: attention's are made on the GPU, a workload's operands are uploaded.
Result<std::unique_ptr<GpuTensors>> make_tensors(OwnKernels& kernels, const LaunchRequest& request);

}  // namespace attnscope::device
