#include "compile/builtin_headers.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "compile/header_texts.h"

namespace attnscope::compile {
namespace {

constexpr const char* kEmpty[] = {
    // C
    "stdio.h",
    "string.h",
    "assert.h",
    "stddef.h",
    "stdbool.h",
    "time.h",
    "errno.h",
    "ctype.h",
    "unistd.h",
    "stdarg.h",
    "signal.h",
    "getopt.h",
    "memory.h",
    "malloc.h",
    "omp.h",
    "sys/time.h",
    "sys/stat.h",
    "sys/resource.h",
    "sys/mman.h",
    "sys/ioctl.h",
    "sys/syscall.h",
    "sys/wait.h",
    "sys/socket.h",
    "sys/sysinfo.h",
    "sys/utsname.h",
    "sched.h",
    "poll.h",
    "dlfcn.h",
    "libgen.h",
    "execinfo.h",
    "cxxabi.h",
    "immintrin.h",
    "xmmintrin.h",
    "emmintrin.h",
    "x86intrin.h",
    "windows.h",
    "intrin.h",
    "fcntl.h",
    "dirent.h",
    "strings.h",
    "wchar.h",
    "wctype.h",
    "locale.h",
    "setjmp.h",
    "fenv.h",
    // C++
    "cstdio",
    "cstring",
    "cinttypes",
    "cwchar",
    "cwctype",
    "csignal",
    "clocale",
    "csetjmp",
    "cfenv",
    "any",
    "bit",
    "charconv",
    "codecvt",
    "compare",
    "coroutine",
    "execution",
    "format",
    "forward_list",
    "barrier",
    "latch",
    "numbers",
    "ranges",
    "scoped_allocator",
    "semaphore",
    "shared_mutex",
    "source_location",
    "stop_token",
    "streambuf",
    "syncstream",
    "typeindex",
    "valarray",
    "version",
    "cassert",
    "ctime",
    "cctype",
    "cerrno",
    "cstdarg",
    "iostream",
    "fstream",
    "sstream",
    "iomanip",
    "ostream",
    "istream",
    "iosfwd",
    "vector",
    "string",
    "string_view",
    "array",
    "list",
    "map",
    "set",
    "unordered_map",
    "unordered_set",
    "queue",
    "deque",
    "stack",
    "memory",
    "functional",
    "chrono",
    "random",
    "numeric",
    "iterator",
    "initializer_list",
    "optional",
    "variant",
    "tuple",
    "bitset",
    "complex",
    "stdexcept",
    "exception",
    "new",
    "typeinfo",
    "thread",
    "mutex",
    "atomic",
    "future",
    "condition_variable",
    "filesystem",
    "ratio",
    "span",
    "regex",
    "locale",
    "system_error",
    "features.h",  // CUB includes it where __linux__ is defined
    // CUDA's host side; NVRTC has its device part built in
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "cuda_profiler_api.h",
    "nvToolsExt.h",
    "nvtx3/nvToolsExt.h",
    "nvToolsExtCuda.h",
    "nvtx3/nvToolsExtCuda.h",
    "nvToolsExtCudaRt.h",
    "nvtx3/nvToolsExtCudaRt.h",
    "nvtx3/nvtx3.hpp",
    "cudnn.h",
    "cusparse.h",
    "cusolverDn.h",
    "nccl.h",
    "nvrtc.h",
    "nvml.h",
    "npp.h",
    "cudaProfiler.h",
    "cuda_gl_interop.h",
    "mpi.h",
    "__clang_cuda_builtin_vars.h",  // what NVRTC has built in, as an editor adds it
    "gtest/gtest.h",
    "benchmark/benchmark.h",
    "gflags/gflags.h",
    "glog/logging.h",
    "fmt/core.h",
    "fmt/format.h",
    // the CUDA samples' helpers
    "helper_cuda.h",
    "helper_functions.h",
    "helper_timer.h",
    "helper_string.h",
    "helper_image.h",
    "helper_cuda_drvapi.h",
    "helper_gl.h",
    "helper_cusolver.h",
    "exception.h",
    // PyTorch and Python
    "torch/library.h",
    "torch/python.h",
    "ATen/Dispatch.h",
    "ATen/cuda/CUDAEvent.h",
    "ATen/cuda/Exceptions.h",
    "ATen/cuda/CUDABlas.h",
    "c10/cuda/CUDAGuard.h",
    "c10/cuda/CUDAException.h",
    "c10/cuda/CUDAStream.h",
    "c10/util/Exception.h",
    "c10/util/Optional.h",
    "pybind11/pybind11.h",
    "pybind11/numpy.h",
    "pybind11/stl.h",
    "Python.h",
};

std::vector<cuda_api::NvrtcHeader> all_headers() {
  std::vector<cuda_api::NvrtcHeader> all;
  for (const auto& [name, text] : header_texts()) all.push_back({name, text});
  for (const char* name : kEmpty) all.push_back({name, "#pragma once\n"});
  return all;
}

}  // namespace

std::span<const cuda_api::NvrtcHeader> builtin_headers() {
  static const std::vector<cuda_api::NvrtcHeader> all = all_headers();
  return all;
}

bool is_builtin_header(const std::string& name) {
  return std::ranges::any_of(builtin_headers(), [&](const cuda_api::NvrtcHeader& one) { return one.name == name; });
}

bool is_cuda_header(const std::string& name) {
  const auto nvrtc = cuda_api::choose_nvrtc();
  if (!nvrtc) return false;
  return std::ranges::any_of((*nvrtc)->place().includes, [&](const std::filesystem::path& folder) {
    std::error_code error;
    return std::ranges::any_of(std::array{folder, folder / "crt", folder / "cccl"},
                               [&](const auto& one) { return std::filesystem::is_regular_file(one / name, error); });
  });
}

}  // namespace attnscope::compile
