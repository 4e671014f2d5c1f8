#pragma once
#include <span>

#include "check/verdict.h"
#include "device/cuda/gpu_reference.h"
#include "device/cuda/own_kernels.h"

namespace attnscope::device {

// check::compare() of a whole output, on the GPU. `output_at` is its address there; `output` is the copy on the host,
// from which the values of reported elements are taken. The sums may differ from the CPU's in the last bits, because
// the GPU adds in another order.
Result<check::Comparison> compare_on_gpu(OwnKernels& kernels, int64_t sms, cuda_api::DevicePointer output_at,
                                         std::span<const std::byte> output, const GpuReference& reference);

}  // namespace attnscope::device
