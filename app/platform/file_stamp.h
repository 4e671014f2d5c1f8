#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace attnscope::platform {

// What changes whenever a file's contents do: the kernel sets `changed_ns` itself, at every write and every rename.
struct FileStamp {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t modified_ns = 0, changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

// Of the regular file that `path` leads to, links followed. None: there is no such file.
std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

// A file that changed this shortly before it was read may change again and keep its stamp: clocks tick in steps.
bool is_recent(const FileStamp& stamp);

}  // namespace attnscope::platform
