#pragma once
#include <memory>
#include <string>

#include "cuda_api/cublas.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/gpu_program.h"
#include "device/cuda/own_kernels.h"

namespace attnscope::device {

// The routines that kernels name as "entry":
//   attention  Q·K^T of all heads in one batched product, our softmax, P·V in another product; S in f32, P in f16
//   hybrid     the same Q·K^T, then softmax and P·V in one kernel of ours
//   gemm_nt    c[…,M,N] = a[…,M,K] · b[…,N,K]^T of f16, for any sizes: the operands a, b and c of a gemm problem
// Failure (Stage::input) for any other name; Stage::device if cuBLAS does not open.
Result<std::shared_ptr<const GpuProgram>> make_cublas_routine(OwnKernels& kernels, const CudaParts& parts,
                                                              const std::string& entry, const Problem& problem);

}  // namespace attnscope::device
