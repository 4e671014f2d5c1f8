#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace attnscope::platform {

struct AgedFile {
  std::filesystem::path path;
  std::filesystem::file_time_type used;  // its last write
  uint64_t bytes = 0;
};

// A folder's regular files, oldest first. Those that another process has just removed are missing; empty if the folder
// cannot be read.
std::vector<AgedFile> files_by_age(const std::filesystem::path& folder);
// Removes the first of these files until the rest has at most `cap_bytes`.
void remove_oldest(const std::vector<AgedFile>& files, uint64_t cap_bytes);

}  // namespace attnscope::platform
