#pragma once
#include <memory>
#include <string>
#include <vector>

#include "check/guarded_buffer.h"
#include "device/cuda/own_kernels.h"
#include "device/device.h"

namespace attnscope::device {

// What a launch works on, on a GPU: its buffers in the order of the request's operands (attention's are q, k, v, o),
// each between canaries.
class GpuTensors {
 public:
  virtual ~GpuTensors() = default;
  // Whether a request's buffers are these.
  virtual bool are_of(const LaunchRequest& request) const = 0;
  virtual std::vector<uint64_t> addresses() const = 0;
  // Outputs and their canaries as before the first run: poison, or what the operand's init says.
  virtual Result<void> renew_outputs() = 0;
  // The judged outputs as they stand. Failure (Stage::launch) when a canary was touched.
  virtual Result<std::vector<std::shared_ptr<const check::GuardedBuffer>>> take_outputs() const = 0;
  // Failure (Stage::launch) naming the input that was written, or whose canaries were.
  virtual Result<void> check_inputs() const = 0;
};

// What stands between two canaries in `memory`, with them. Failure (Stage::launch) when a canary was touched.
Result<check::GuardedBuffer> fetch_guarded(const GpuMemory& memory, const std::string& name);

// The request's buffers as they are before a run: attention's are made on the GPU, a workload's operands are uploaded.
Result<std::unique_ptr<GpuTensors>> make_tensors(OwnKernels& kernels, const LaunchRequest& request);

}  // namespace attnscope::device
