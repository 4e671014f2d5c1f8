#include "device/cuda/tensors.h"

#include "device/cuda/attention_tensors.h"
#include "device/cuda/operand_tensors.h"

namespace attnscope::device {

Result<check::GuardedBuffer> fetch_guarded(const GpuMemory& memory, const std::string& name) {
  check::GuardedBuffer buffer(name, memory.bytes() - 2 * check::GuardedBuffer::kGuardBytes);
  if (auto done = memory.download(buffer.whole()); !done) return fail(done.error());
  if (auto intact = buffer.check_guards(); !intact) return fail(intact.error());
  return buffer;
}

Result<std::unique_ptr<GpuTensors>> make_tensors(OwnKernels& kernels, const LaunchRequest& request) {
  if (request.operands) return OperandTensors::make(kernels.gpu(), request.operands);
  return AttentionTensors::make(kernels, request.problem);
}

}  // namespace attnscope::device
