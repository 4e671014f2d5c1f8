#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "check/reference.h"
#include "device/cuda/gpu.h"
#include "device/cuda/own_kernels.h"

namespace attnscope::device {

// A reference of up to this many elements (512 MB of fp64) covers all rows, a larger one check::reference_rows().
inline constexpr int64_t kGpuReferenceElements = int64_t{1} << 26;

// A reference and its copy on the GPU, for comparing outputs there.
struct GpuReference {
  std::shared_ptr<const check::Reference> reference;
  GpuMemory rows, values, classes;  // int64, fp64, check::ElementClass; `classes` is empty if all values are finite

  // Uploads a reference that was made elsewhere.
  static Result<GpuReference> upload(const std::shared_ptr<Gpu>& gpu,
                                     std::shared_ptr<const check::Reference> reference);
};

// Computes the fp64 reference with a kernel of ours from inputs on the GPU. `inputs`: the addresses of q, k and v
// there. Failure (Stage::check) for a problem that is not attention.
Result<GpuReference> make_gpu_reference(OwnKernels& kernels, int64_t sms, const Problem& problem,
                                        std::span<const uint64_t> inputs, check::Accumulate accumulate);

}  // namespace attnscope::device
