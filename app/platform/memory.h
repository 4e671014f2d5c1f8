#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"

namespace attnscope::platform {

// Where Linux says how much memory is left; tests name their own files.
struct MemoryFiles {
  std::filesystem::path meminfo = "/proc/meminfo", own_groups = "/proc/self/cgroup", groups = "/sys/fs/cgroup";
};

// Bytes that can still be allocated before the system has to end a process: what the machine has available and what its
// control groups allow. Empty when the system does not say.
std::optional<uint64_t> available_memory(const MemoryFiles& files = {});

// Failure (Stage::limits) when `bytes` are more than available: the system promises more memory than it has and
// silently kills the process that uses it. `what` needs the memory: "the buffers of n=1000000000".
Result<void> hold_memory(uint64_t bytes, const std::string& what);

// The same Failure for an allocation that was refused anyway.
Failure out_of_memory(const std::string& what);

// For tests: what available_memory() answers from now on.
void inject_available_memory(std::optional<uint64_t> bytes);

}  // namespace attnscope::platform
