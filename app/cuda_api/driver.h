#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "cuda_api/driver_calls.h"
#include "cuda_api/shared_library.h"

namespace attnscope::cuda_api {

struct GpuInfo {
  int ordinal = 0;
  std::string name;
  int arch = 0;  // compute capability × 10: 89
  uint64_t memory_bytes = 0;
};

// libcuda, opened at run time. Opening it does not touch a GPU; gpus() initialises the driver in this process.
class Driver {
 public:
  // Opens $ATTNSCOPE_LIBCUDA, otherwise the system's libcuda.so.1. Failure (Stage::device) if there is no driver.
  static Result<Driver> open();

  int version() const { return version_; }  // 12080 means CUDA 12.8: the newest CUDA that the driver supports
  std::string version_text() const;         // "12.8"
  Result<std::vector<GpuInfo>> gpus() const;
  // The functions that run kernels. Failure (Stage::device): the driver is older than CUDA 11.8.
  Result<DriverCalls> calls() const { return DriverCalls::load(library_); }

 private:
  explicit Driver(SharedLibrary library) : library_(std::move(library)) {}
  Result<void> load();

  SharedLibrary library_;
  int version_ = 0;
  // Signatures as in the CUDA driver API's reference; CUresult is an int, 0 on success.
  int (*init_)(unsigned flags) = nullptr;
  int (*driver_version_)(int* version) = nullptr;
  int (*device_count_)(int* count) = nullptr;
  int (*device_get_)(int* device, int ordinal) = nullptr;
  int (*device_name_)(char* name, int length, int device) = nullptr;
  int (*device_attribute_)(int* value, int attribute, int device) = nullptr;
  int (*device_memory_)(size_t* bytes, int device) = nullptr;
};

}  // namespace attnscope::cuda_api
