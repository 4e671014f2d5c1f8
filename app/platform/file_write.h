#pragma once
// Helpers shared by atomic_file and output_file.
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/result.h"
#include "platform/atomic_file.h"

namespace attnscope::platform {

// Where the bytes for a path go, after following its links.
struct WriteTarget {
  std::filesystem::path path;
  std::optional<struct stat> info;  // of the existing file; empty: there is none
  // Set if the path names a file that this process has open, such as /dev/stdout; not owned.
  int open_fd = -1;
  bool regular_or_new() const { return open_fd < 0 && (!info || S_ISREG(info->st_mode)); }
};
Result<WriteTarget> write_target(const std::filesystem::path& path);

// Replaces the target's file, or creates it with `mode`, whole or not at all. An existing file keeps its permissions
// and owner; one that is not writable is refused. Returns 0 or errno.
int replace_file(const WriteTarget& target, std::span<const std::byte> bytes, Durability durability, mode_t mode);

// Writes into an existing target: a device, a pipe that has a reader, or a file in a folder that accepts no new ones.
// Returns 0 or errno.
int write_into(const WriteTarget& target, std::span<const std::byte> bytes);

// `what`: "written" or "read".
tl::unexpected<Failure> store_failure(const std::filesystem::path& path, const std::string& what, int error);

}  // namespace attnscope::platform
