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

// The same of a folder: its times change whenever a name comes or goes in it.
std::optional<FileStamp> folder_stamp_of(const std::filesystem::path& path);

// Whether `path` itself is there, whatever it is: a link that leads nowhere too. True when the system does not say.
bool name_exists(const std::filesystem::path& path);

// A file that changed this shortly before its stamp was taken may change again and keep it: clocks tick in steps. Ask
// before the file is read; later the answer says nothing about that reading.
bool is_recent(const FileStamp& stamp);

}  // namespace attnscope::platform
