#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attnscope::cuda_api {

// An nvcc of this machine, and where it comes from.
struct Nvcc {
  std::filesystem::path program;
  std::string version;  // "13.0.88"
  int major = 0;
  // "$ATTNSCOPE_NVCC", "environment <site-packages>", "package nvcc", "toolkit /usr/local/cuda-13.0", "$PATH"
  std::string origin;
  std::string host_compiler;  // the g++ that it starts, as that says its version

  // Its toolkit: the folder above the one that it lies in.
  std::filesystem::path root() const { return program.parent_path().parent_path(); }
  // The folders of its headers.
  std::vector<std::filesystem::path> includes() const;
};

// The nvcc for this machine: with the driver's major version, or else an older one, whose code the driver also runs.
// Without a driver it is chosen as NVRTC is: 12, or else 13. $ATTNSCOPE_NVCC is used if its code runs on the driver. A
// Failure (Stage::compile) says in one sentence that none fits, or that there is no g++, without which none works.
Result<Nvcc> choose_nvcc();

// "13.0.88" of what `nvcc --version` prints; empty if that names no version.
std::string nvcc_version_in(std::string_view text);

}  // namespace attnscope::cuda_api
