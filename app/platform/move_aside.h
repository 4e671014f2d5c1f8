#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// Renames a damaged file to <path>.damaged-<n> with the first free n, and returns that name. Never overwrites anything,
// even if two processes do this at once. `companions` are endings of files that belong to it ("-wal"); they are renamed
// too if they exist.
Result<std::filesystem::path> move_aside(const std::filesystem::path& path,
                                         const std::vector<std::string>& companions = {});

// Distinguishes a file from one that takes its name later.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);  // empty: there is no visible file

// True if this process may create and remove files in the folder.
bool may_write_in(const std::filesystem::path& folder);

}  // namespace attnscope::platform
