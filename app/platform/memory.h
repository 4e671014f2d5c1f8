#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"

namespace attnscope::platform {

// The files in which Linux reports free memory; tests name their own.
struct MemoryFiles {
  std::filesystem::path meminfo = "/proc/meminfo", own_groups = "/proc/self/cgroup", groups = "/sys/fs/cgroup";
};

// Bytes that can still be allocated before the system has to end a process: the smaller of what the machine has
// available and what its control groups allow. Empty if the system does not say.
std::optional<uint64_t> available_memory(const MemoryFiles& files = {});

// Failure (Stage::limits) if `bytes` are more than is available. Without this check the system promises more memory
// than it has, and kills the process that uses it without a message. `what` needs the memory: "the buffers of
// n=1000000000".
Result<void> hold_memory(uint64_t bytes, const std::string& what);

// The same Failure for an allocation that failed anyway.
Failure out_of_memory(const std::string& what);

// From now on memory that was allocated in pieces of 256 KB or more goes back to the system when it is freed. Without
// this glibc soon keeps such pieces for later, and a window that is open for hours holds what its largest moments took.
void give_back_freed_memory();

// For tests: the value that available_memory() returns from now on.
void inject_available_memory(std::optional<uint64_t> bytes);

}  // namespace attnscope::platform
