#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/result.h"

namespace attnscope::platform {

enum class Durability {
  synced,  // flushed to disk before the rename: for what a person made
  cached,  // a power cut may lose it, but it is never torn while the machine runs: for what can be made again
};

// Replaces `path` with `bytes`, whole or not at all: a reader sees the old file or the new one. For the program's own
// files; output_file.h is for paths that a person gives. Creates missing folders and follows links. A full disk, a
// missing permission and the like are a Failure (Stage::store) that names the path; the old file stays.
Result<void> write_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                        Durability durability = Durability::synced);
Result<void> write_file(const std::filesystem::path& path, std::string_view text,
                        Durability durability = Durability::synced);

// A name beside `path` that no other process or thread uses.
std::string temporary_beside(const std::filesystem::path& path);

// Reads the whole file. Refuses a file over `max_bytes`, a folder or a device before reading it (Stage::store).
Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes);
// Empty if there is no such file. A file that cannot be examined or read is a Failure, not a missing file.
Result<std::optional<std::string>> read_file_if_any(const std::filesystem::path& path, uint64_t max_bytes);

// For tests: every later write to a path that contains `path_part` fails with errno `error` after `after_bytes`.
struct WriteFault {
  std::string path_part;
  uint64_t after_bytes = 0;
  int error = 28;  // ENOSPC
};
void inject_write_fault(std::optional<WriteFault> fault);

}  // namespace attnscope::platform
