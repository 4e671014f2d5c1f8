#pragma once
#include <string>

#include "core/result.h"
#include "cuda_api/locate.h"
#include "cuda_api/shared_library.h"

namespace attnscope::cuda_api {

// An opened library that must match the driver's major version.
struct ChosenLibrary {
  SharedLibrary library;
  LibraryPlace place;
  int major = 0;        // 12, 13; 0: the file is named after its year
  std::string version;  // from its file name: "12.8.4.1", only "12", or for CUPTI "2025.3.1"
};

// The cuBLAS or CUPTI for this machine's driver, with its major version: from $ATTNSCOPE_CUBLAS or $ATTNSCOPE_CUPTI,
// the packages, the toolkits or the system. A library that a variable names is used if its code runs on the driver.
// Both need a driver. The Failure (Stage::device) is one sentence: what the driver needs and what there is instead.
// (choose_nvrtc() in nvrtc.h chooses NVRTC; NVML belongs to the driver and needs no choice.)
Result<ChosenLibrary> choose_library(CudaLibrary which);

}  // namespace attnscope::cuda_api
