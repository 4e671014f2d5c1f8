#pragma once
#include <memory>
#include <string>
#include <vector>

#include "check/operands.h"
#include "device/cuda/gpu.h"
#include "device/cuda/tensors.h"

namespace attnscope::device {

// Operands that the CPU made, and their copies on the GPU.
class OperandTensors final : public GpuTensors {
 public:
  static Result<std::unique_ptr<GpuTensors>> make(std::shared_ptr<Gpu> gpu,
                                                  std::shared_ptr<const check::Operands> operands);
  bool are_of(const LaunchRequest& request) const override { return request.operands == operands_; }
  std::vector<uint64_t> addresses() const override;
  Result<void> renew_outputs() override;
  Result<std::vector<std::shared_ptr<const check::GuardedBuffer>>> take_outputs() const override;
  Result<void> check_inputs() const override;

 private:
  std::shared_ptr<const check::Operands> operands_;
  std::vector<std::string> hashes_;
  std::vector<GpuMemory> memory_;  // one per operand
};

}  // namespace attnscope::device
