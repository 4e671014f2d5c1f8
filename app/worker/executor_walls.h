#pragma once
#include <filesystem>

#include "platform/confine.h"

namespace attnscope::worker {

// What an executor may do besides computing: read the system, the toolkits and attnscope's installation, but no home
// folder; write to `cache`, temporary folders and the GPU's devices. `gpu`: also local sockets, which CUDA's services
// use.
platform::Allowed executor_allowance(const std::filesystem::path& cache, const std::filesystem::path& resources,
                                     bool gpu);

// Confines this process, which must have only one thread: files, sockets, core dumps, file size. Also makes the kernel
// end it before others when memory runs out.
void confine_executor(const std::filesystem::path& cache, const std::filesystem::path& resources);

}  // namespace attnscope::worker
