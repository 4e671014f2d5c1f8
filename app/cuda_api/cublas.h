#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/result.h"
#include "cuda_api/choose.h"
#include "cuda_api/driver_calls.h"

namespace attnscope::cuda_api {

struct CublasState;
using CublasHandle = CublasState*;

// Values of cudaDataType, cublasOperation_t and cublasComputeType_t in the CUDA headers.
inline constexpr int kCublasF32 = 0, kCublasF16 = 2;
inline constexpr int kCublasAsIs = 0, kCublasTransposed = 1;
inline constexpr int kCublasComputeF32 = 68;
inline constexpr int kCublasDefaultAlgorithm = -1;

// The cuBLAS functions in use, named as in its reference; each returns a cublasStatus_t, 0 on success. A plain table,
// so that a test can substitute its own functions.
struct CublasCalls {
  int (*create)(CublasHandle*) = nullptr;
  int (*destroy)(CublasHandle) = nullptr;
  int (*version)(CublasHandle, int*) = nullptr;
  int (*set_stream)(CublasHandle, Stream) = nullptr;
  int (*set_workspace)(CublasHandle, void* memory, size_t bytes) = nullptr;
  // cublasGemmStridedBatchedEx. Matrices are column-major: C [m, n] = alpha · op(A) [m, k] · op(B) [k, n] + beta · C.
  int (*gemm)(CublasHandle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int type_a,
              int lda, long long stride_a, const void* b, int type_b, int ldb, long long stride_b, const void* beta,
              void* c, int type_c, int ldc, long long stride_c, int batch, int compute_type, int algorithm) = nullptr;
  const char* (*status_text)(int status) = nullptr;

  // Failure (Stage::device) that names the first function that the library lacks.
  static Result<CublasCalls> load(const SharedLibrary& library);
};

// True if there is a cuBLAS for this machine's driver. Does not open the library, which is large, if its file exists.
bool cublas_is_there();

// Opens that cuBLAS by choose_library(). Failure: Stage::device.
Result<CublasCalls> open_cublas();

}  // namespace attnscope::cuda_api
