#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "check/reference.h"
#include "device/cuda/gpu.h"
#include "device/cuda/own_kernels.h"

namespace attnscope::device {

// All rows up to this size of the reference, else check::reference_rows(): 512 MB of fp64.
inline constexpr int64_t kGpuReferenceElements = int64_t{1} << 26;

// A reference and its copy on the GPU, for comparing outputs there.
struct GpuReference {
  std::shared_ptr<const check::Reference> reference;
  GpuMemory rows, values, classes;  // int64, fp64, check::ElementClass; classes is empty when all are finite

  // Uploads a reference that was made elsewhere.
  static Result<GpuReference> upload(const std::shared_ptr<Gpu>& gpu,
                                     std::shared_ptr<const check::Reference> reference);
};

// The fp64 reference from a kernel of ours and inputs that are on the GPU. Failure (Stage::check) for a problem that is
// not attention. `inputs`: the addresses of q, k and v there.
Result<GpuReference> make_gpu_reference(OwnKernels& kernels, int64_t sms, const Problem& problem,
                                        std::span<const uint64_t> inputs, check::Accumulate accumulate);

}  // namespace attnscope::device
