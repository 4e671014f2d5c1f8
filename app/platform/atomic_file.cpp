#include "platform/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "platform/descriptor.h"
#include "platform/file_write.h"

namespace attnscope::platform {

std::string temporary_beside(const std::filesystem::path& path) {
  static std::atomic<uint64_t> counter = 0;
  return path.string() + ".tmp." + std::to_string(getpid()) + "." + std::to_string(++counter);
}

Result<void> write_file(const std::filesystem::path& path, std::span<const std::byte> bytes, Durability durability) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return store_failure(path, "written", error.value());
  auto target = write_target(path);
  if (!target) return fail(target.error());
  const int failed =
      target->regular_or_new() ? replace_file(*target, bytes, durability, 0644) : write_into(*target, bytes);
  if (failed != 0) return store_failure(path, "written", failed);
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text, Durability durability) {
  return write_file(path, std::as_bytes(std::span<const char>(text.data(), text.size())), durability);
}

Result<std::optional<std::string>> read_file_if_any(const std::filesystem::path& path, uint64_t max_bytes) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  auto text = read_file(path, max_bytes);
  if (!text) return fail(text.error());
  return std::move(*text);
}

Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  // Opening a FIFO must not block.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return store_failure(path, "read", errno);
  struct stat info {};
  std::string text;
  int failed = fstat(file.get(), &info) != 0 ? errno : 0;
  bool refused = failed == 0 && (!S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) > max_bytes);
  const bool regular = S_ISREG(info.st_mode);
  if (failed == 0 && !refused) {
    text.resize(static_cast<size_t>(info.st_size));
    size_t got = 0;
    while (got < text.size()) {
      const ssize_t n = read(file.get(), text.data() + got, text.size() - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed = errno;
      if (n <= 0) break;
      got += static_cast<size_t>(n);
    }
    text.resize(got);
  }
  if (failed != 0) return store_failure(path, "read", failed);
  if (refused && !regular) return fail(Stage::store, path.string() + " is not a file.", "Give a file's path.");
  if (refused)
    return fail(Stage::store,
                path.string() + " has " + std::to_string(info.st_size) + " bytes, over the limit of " +
                    std::to_string(max_bytes) + ".",
                "It may be the wrong file.");
  return text;
}

}  // namespace attnscope::platform
