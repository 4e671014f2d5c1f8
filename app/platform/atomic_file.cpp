#include "platform/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace attnscope::platform {
namespace {

std::mutex fault_mutex;
std::optional<WriteFault> injected_fault;  // guarded by fault_mutex
std::atomic<bool> fault_injected = false;  // spares the lock when no test asks

int faulty_write(int fd, const std::byte* data, size_t bytes, const std::string& path, uint64_t written, size_t& done) {
  if (fault_injected.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(fault_mutex);
    if (injected_fault && path.find(injected_fault->path_part) != std::string::npos) {
      if (written >= injected_fault->after_bytes) return injected_fault->error;
      bytes = static_cast<size_t>(std::min<uint64_t>(bytes, injected_fault->after_bytes - written));
    }
  }
  const ssize_t wrote = write(fd, data, bytes);
  if (wrote < 0) return errno == EINTR ? 0 : errno;
  done = static_cast<size_t>(wrote);
  return 0;
}

int write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
  uint64_t written = 0;
  do {
    size_t done = 0;
    const int error = faulty_write(fd, bytes.data() + written, bytes.size() - written, path, written, done);
    if (error != 0) return error;
    written += done;
  } while (written < bytes.size());
  return 0;
}

void sync_folder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // the rename stands; only its survival of a power cut is less sure
  fsync(fd);
  close(fd);
}

tl::unexpected<Failure> store_failure(const std::filesystem::path& path, const std::string& what, int error) {
  std::string hint = "Check the folder's rights.";
  if (error == ENOSPC || error == EDQUOT) hint = "Free some space on that disk.";
  if (error == ENOENT) hint = "Check the path.";
  return fail(Stage::store, path.string() + " could not be " + what + ": " + std::strerror(error) + ".", hint);
}

}  // namespace

Result<void> write_file(const std::filesystem::path& path, std::span<const std::byte> bytes, Durability durability) {
  static std::atomic<uint64_t> counter = 0;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return store_failure(path, "written", error.value());

  // In the same folder, for a rename does not cross file systems; unlike any other process's or thread's.
  const std::string temporary = path.string() + ".tmp." + std::to_string(getpid()) + "." + std::to_string(++counter);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return store_failure(path, "written", errno);
  int failed = write_all(fd, bytes, path.string());
  if (failed == 0 && durability == Durability::synced && fsync(fd) != 0) failed = errno;
  if (close(fd) != 0 && failed == 0) failed = errno;
  if (failed == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    unlink(temporary.c_str());
    return store_failure(path, "written", failed);
  }
  if (durability == Durability::synced) sync_folder(folder);
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text, Durability durability) {
  return write_file(path, std::as_bytes(std::span<const char>(text.data(), text.size())), durability);
}

Result<std::string> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not hold us up
  if (fd < 0) return store_failure(path, "read", errno);
  struct stat info {};
  std::string text;
  int failed = fstat(fd, &info) != 0 ? errno : 0;
  bool refused = failed == 0 && (!S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) > max_bytes);
  const bool regular = S_ISREG(info.st_mode);
  if (failed == 0 && !refused) {
    text.resize(static_cast<size_t>(info.st_size));
    size_t got = 0;
    while (got < text.size()) {
      const ssize_t n = read(fd, text.data() + got, text.size() - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed = errno;
      if (n <= 0) break;
      got += static_cast<size_t>(n);
    }
    text.resize(got);
  }
  close(fd);
  if (failed != 0) return store_failure(path, "read", failed);
  if (refused && !regular) return fail(Stage::store, path.string() + " is not a file.", "Give a file's path.");
  if (refused)
    return fail(Stage::store,
                path.string() + " has " + std::to_string(info.st_size) + " bytes, over the limit of " +
                    std::to_string(max_bytes) + ".",
                "It does not look like what is expected here.");
  return text;
}

void inject_write_fault(std::optional<WriteFault> fault) {
  const std::lock_guard lock(fault_mutex);
  fault_injected = fault.has_value();
  injected_fault = std::move(fault);
}

}  // namespace attnscope::platform
