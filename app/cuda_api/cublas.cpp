#include "cuda_api/cublas.h"

#include "cuda_api/driver.h"

namespace attnscope::cuda_api {

Result<CublasCalls> CublasCalls::load(const SharedLibrary& library) {
  CublasCalls calls;
  FunctionLoader take{library};
  take("cublasCreate_v2", calls.create);
  take("cublasDestroy_v2", calls.destroy);
  take("cublasGetVersion_v2", calls.version);
  take("cublasSetStream_v2", calls.set_stream);
  take("cublasSetWorkspace_v2", calls.set_workspace);
  take("cublasGemmStridedBatchedEx", calls.gemm);
  take("cublasGetStatusString", calls.status_text);
  if (!take.done) return fail(take.done.error());
  return calls;
}

bool cublas_is_there() {
  auto driver = Driver::open();
  if (!driver) return false;
  for (const LibraryPlace& place : library_places(CudaLibrary::cublas, driver->version() / 1000)) {
    std::error_code error;
    if (place.library.is_absolute() && std::filesystem::exists(place.library, error)) return true;
  }
  return choose_library(CudaLibrary::cublas).has_value();  // one that only the system's loader can find
}

Result<CublasCalls> open_cublas() {
  auto chosen = choose_library(CudaLibrary::cublas);
  if (!chosen) return fail(chosen.error());
  return CublasCalls::load(chosen->library);
}

}  // namespace attnscope::cuda_api
