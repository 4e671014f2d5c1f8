#pragma once
#include <memory>
#include <vector>

#include "check/guarded_buffer.h"
#include "check/operands.h"
#include "device/cuda/gpu.h"

namespace attnscope::device {

// A launch's buffers on a GPU, each between canaries.
class GpuTensors {
 public:
  // Uploads every operand as it is before a run.
  static Result<GpuTensors> make(std::shared_ptr<Gpu> gpu, std::shared_ptr<const check::Operands> operands);
  std::vector<uint64_t> addresses() const;
  const check::Operands& operands() const { return *operands_; }

  // What a kernel may write as it was at first, canaries included.
  Result<void> renew_outputs();
  // The buffers of role out and inout as they stand. Failure (Stage::launch) when a canary of what the kernel may write
  // was touched.
  Result<std::vector<std::shared_ptr<const check::GuardedBuffer>>> take_outputs() const;
  // Failure (Stage::launch) naming the input that was written, or whose canaries were.
  Result<void> check_inputs() const;

 private:
  std::shared_ptr<const check::Operands> operands_;
  std::vector<std::string> hashes_;
  std::vector<GpuMemory> memory_;  // of each operand
};

}  // namespace attnscope::device
