#pragma once
#include <filesystem>

#include "platform/confine.h"

namespace attnscope::worker {

// What an executor may access: it reads the system, the toolkits and attnscope's installation, but no home folder; it
// writes to `cache`, temporary folders and the GPU's devices. `gpu` adds local sockets, which CUDA's services use.
platform::Allowed executor_allowance(const std::filesystem::path& cache, const std::filesystem::path& resources,
                                     bool gpu);

// Confines this process, which must have only one thread: files, sockets, core dumps, file size. Also marks it to be
// killed first when the machine runs out of memory.
void confine_executor(const std::filesystem::path& cache, const std::filesystem::path& resources);

}  // namespace attnscope::worker
