#include "device/cuda/tensors.h"

#include "device/cuda/attention_tensors.h"
#include "device/cuda/operand_tensors.h"

namespace attnscope::device {

Result<std::unique_ptr<GpuTensors>> make_tensors(OwnKernels& kernels, const LaunchRequest& request) {
  if (request.operands) return OperandTensors::make(kernels.gpu(), request.operands);
  return AttentionTensors::make(kernels, request.problem);
}

}  // namespace attnscope::device
