#pragma once
#include <filesystem>

#include "platform/confine.h"

namespace attnscope::worker {

// What an executor may do beside computing: read the system, the toolkits and what attnscope was installed with, but no
// home; write to `cache`, temporary folders and the GPU's devices. `gpu`: local sockets too, which CUDA's services use.
platform::Allowed executor_allowance(const std::filesystem::path& cache, const std::filesystem::path& resources,
                                     bool gpu);

// Confines this process, which has no other thread yet: files, sockets, core dumps, the size of a file; and has it end
// before others when memory runs out.
void confine_executor(const std::filesystem::path& cache, const std::filesystem::path& resources);

}  // namespace attnscope::worker
