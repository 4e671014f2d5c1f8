#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "check/inputs.h"
#include "check/reference.h"
#include "compile/compiler.h"
#include "device/cuda/gpu.h"
#include "device/cuda/gpu_kernel.h"

namespace attnscope::device {

// Rows are all of them up to this size of the reference, else check::reference_rows(): 512 MB of fp64.
inline constexpr int64_t kGpuReferenceElements = int64_t{1} << 26;

// One of our own kernels out of `folder`: "reference" or "empty", for the problem's dtype and head_dim.
Result<std::shared_ptr<const compile::Variant>> compile_own_kernel(compile::Compiler& compiler,
                                                                   const std::filesystem::path& folder,
                                                                   const std::string& name, const Problem& problem,
                                                                   check::Accumulate accumulate, int arch);

// The fp64 reference by `kernel`, which is compile_own_kernel's "reference". Failure (Stage::check) for a problem that
// is no attention.
Result<std::shared_ptr<const check::Reference>> make_gpu_reference(const std::shared_ptr<Gpu>& gpu,
                                                                   const GpuKernel& kernel, int64_t sms,
                                                                   const Problem& problem,
                                                                   const check::AttentionInputs& inputs,
                                                                   check::Accumulate accumulate);

}  // namespace attnscope::device
