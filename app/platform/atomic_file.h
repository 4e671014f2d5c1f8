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
  synced,  // on the disk before the name changes: what a person made
  cached,  // may be lost with the power, never torn while the machine runs: what can be remade
};

// For the program's own files; output_file.h has what a person gave a path for. Puts `bytes` at `path`, whole or not at
// all: a reader sees the old file or the new one. Missing folders are made; links are followed. A full disk, a missing
// right and the like are a Failure (Stage::store) that names the path, and the old file stands.
Result<void> write_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                        Durability durability = Durability::synced);
Result<void> write_file(const std::filesystem::path& path, std::string_view text,
                        Durability durability = Durability::synced);

// A name beside `path` that no other process or thread uses.
std::string temporary_beside(const std::filesystem::path& path);

// The whole file. One over `max_bytes`, a folder or a device is refused before it is read (Stage::store).
Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes);
// Empty: no such file. One that cannot be seen or read is a Failure and is not taken for none.
Result<std::optional<std::string>> read_file_if_any(const std::filesystem::path& path, uint64_t max_bytes);

// For tests: every later write whose path holds `path_part` fails with errno `error` once `after_bytes` are written.
struct WriteFault {
  std::string path_part;
  uint64_t after_bytes = 0;
  int error = 28;  // ENOSPC
};
void inject_write_fault(std::optional<WriteFault> fault);

}  // namespace attnscope::platform
