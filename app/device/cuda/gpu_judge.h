#pragma once
#include <span>

#include "check/verdict.h"
#include "device/cuda/gpu_reference.h"
#include "device/cuda/own_kernels.h"

namespace attnscope::device {

// check::compare() of a whole output, on the GPU: `output_at` is where it lies there, `output` its copy here, out of
// which the elements that are named come. Sums may differ from the CPU's in their last bits: they are added in another
// order.
Result<check::Comparison> compare_on_gpu(OwnKernels& kernels, int64_t sms, cuda_api::DevicePointer output_at,
                                         std::span<const std::byte> output, const GpuReference& reference);

}  // namespace attnscope::device
