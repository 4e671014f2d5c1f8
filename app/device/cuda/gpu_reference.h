#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "check/reference.h"
#include "device/cuda/gpu.h"
#include "device/cuda/own_kernels.h"

namespace attnscope::device {

// Rows are all of them up to this size of the reference, else check::reference_rows(): 512 MB of fp64.
inline constexpr int64_t kGpuReferenceElements = int64_t{1} << 26;

// A reference, and the same on the GPU, for outputs to be held against there.
struct GpuReference {
  std::shared_ptr<const check::Reference> reference;
  GpuMemory rows, values, classes;  // int64, fp64, check::ElementClass; classes is empty when all are finite

  // Of a reference that came from elsewhere.
  static Result<GpuReference> upload(const std::shared_ptr<Gpu>& gpu,
                                     std::shared_ptr<const check::Reference> reference);
};

// The fp64 reference by a kernel of ours, from inputs that are on the GPU. Failure (Stage::check) for a problem that is
// no attention. inputs: where q, k and v lie there.
Result<GpuReference> make_gpu_reference(OwnKernels& kernels, int64_t sms, const Problem& problem,
                                        std::span<const uint64_t> inputs, check::Accumulate accumulate);

}  // namespace attnscope::device
