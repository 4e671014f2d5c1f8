#pragma once
#include <string>

#include "core/result.h"
#include "cuda_api/locate.h"
#include "cuda_api/shared_library.h"

namespace attnscope::cuda_api {

// One of the libraries that must be of the driver's major version, opened.
struct ChosenLibrary {
  SharedLibrary library;
  LibraryPlace place;
  int major = 0;        // 12, 13
  std::string version;  // as its file says: "12.8.4.1", or "12" alone
};

// cuBLAS or CUPTI for this machine's driver: of its major version, among $ATTNSCOPE_CUBLAS or $ATTNSCOPE_CUPTI, the
// packages, the toolkits and the system. A library that is named is taken as long as its code runs on the driver.
// Neither serves without a driver. Failures (Stage::device) are one sentence: what the driver needs and what there is
// instead. (NVRTC is chosen by choose_nvrtc() in nvrtc.h; NVML is the driver's own and needs no choice.)
Result<ChosenLibrary> choose_library(CudaLibrary which);

}  // namespace attnscope::cuda_api
