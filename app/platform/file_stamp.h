#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace attnscope::platform {

// Changes whenever a file's contents change: the kernel sets `changed_ns` at every write and every rename.
struct FileStamp {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t modified_ns = 0, changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

// The stamp of the regular file at `path`; links are followed. Empty if there is no such file.
std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

// The same for a folder, whose times change when a name is added or removed.
std::optional<FileStamp> folder_stamp_of(const std::filesystem::path& path);

// True if anything is at `path`, even a dangling link, or if the system does not say.
bool name_exists(const std::filesystem::path& path);

// A file that changed shortly before its stamp was taken may change again without changing the stamp, because clocks
// advance in steps. Call this before reading the file; a later answer says nothing about what was read.
bool is_recent(const FileStamp& stamp);

}  // namespace attnscope::platform
