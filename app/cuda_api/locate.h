#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::cuda_api {

// A CUDA library on disk that may fit, and its origin.
struct LibraryPlace {
  std::filesystem::path library;  // absolute, or a bare name that the system's loader resolves
  // The folders of its headers, the one with cuda_fp16.h first; empty if there are none beside it.
  std::vector<std::filesystem::path> includes;
  // "$ATTNSCOPE_NVRTC", "environment <site-packages>", "package 12.8",
  // "toolkit /usr/local/cuda-13.0", "system"
  std::string origin;
};

// The libraries whose version must match the driver's.
enum class CudaLibrary { nvrtc, cublas, cupti };
struct LibraryName {
  std::string title;        // "NVRTC"
  std::string file;         // "libnvrtc.so"; the major version follows it
  const char* environment;  // "ATTNSCOPE_NVRTC": a variable that names a file to use instead
};
const LibraryName& name_of(CudaLibrary which);

// The CUDA toolkits of this machine: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /usr/local/cuda-*, /opt/cuda. Empty if
// $ATTNSCOPE_NO_TOOLKIT is 1, which imitates a machine without a toolkit.
std::vector<std::filesystem::path> toolkits();

// Where `attnscope fetch` and ./dev put the pinned packages: "<user cache>/cuda", which contains 12.8/{lib,include},
// 13.0/{lib,include} and bin/nvdisasm. If $ATTNSCOPE_HOME moves the user's cache there are two candidates: that one,
// then the XDG one. The last is cuda/ beside the kernels and assets, for a program that is shipped with its packages.
std::vector<std::filesystem::path> package_folders();

// The folders that belong to attnscope in the Python environment that it was installed into: <site-packages>/nvidia and
// <site-packages>/cutlass_library for each folder in $ATTNSCOPE_SITE_PACKAGES, which the wheel's command sets. NVIDIA's
// wheels keep their libraries there.
std::vector<std::filesystem::path> environment_folders();

// Every library of that kind and major version, best first: the one that its variable names, the Python environment's,
// the packages', the toolkits', the system's. If the variable is set, only that one.
std::vector<LibraryPlace> library_places(CudaLibrary which, int major);

// The include folder of headers that are not part of CUDA: "cutlass" (CUTLASS and CuTe), in $ATTNSCOPE_CUTLASS, the
// Python environment or the packages. The Failure (Stage::compile) says what to fetch.
Result<std::filesystem::path> locate_headers(const std::string& name);

struct ProgramPlace {
  std::filesystem::path program;
  std::string origin;  // "$ATTNSCOPE_NVCC", "environment <site-packages>", "package nvcc", "toolkit <folder>", "$PATH"
};
// Every nvcc, best first: the Python environment's, the package's, the toolkits', PATH's. If $ATTNSCOPE_NVCC is set,
// only the one that it names. Links are followed, because nvcc finds its parts beside the file.
std::vector<ProgramPlace> nvcc_places();

// nvdisasm, from $ATTNSCOPE_NVDISASM, the Python environment, the toolkits, the packages or PATH. The Failure
// (Stage::decode) says what to install.
Result<std::filesystem::path> locate_nvdisasm();

}  // namespace attnscope::cuda_api
