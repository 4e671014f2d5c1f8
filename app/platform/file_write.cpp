#include "platform/file_write.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "core/text.h"
#include "platform/descriptor.h"

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;

std::mutex fault_mutex;
std::optional<WriteFault> injected_fault;  // guarded by fault_mutex
std::atomic<bool> fault_injected = false;  // avoids the lock unless a test has set a fault

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

int write_bytes(int fd, std::span<const std::byte> bytes, const std::string& path) {
  uint64_t written = 0;
  do {
    size_t done = 0;
    const int error = faulty_write(fd, bytes.data() + written, bytes.size() - written, path, written, done);
    if (error != 0) return error;
    written += done;
  } while (written < bytes.size());
  return 0;
}

void sync_folder(const fs::path& folder) {
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0) return;  // the rename succeeded, but may not survive a power cut
  fsync(opened.get());
}

// The file descriptor that a link in /proc/self/fd refers to; -1 for any other link. Such a link may name a pipe or a
// deleted file, so it is not followed by name.
int open_file_of(const fs::path& link) {
  std::error_code error;
  const fs::path folder = fs::canonical(link.parent_path(), error);
  if (error || folder != "/proc/" + std::to_string(getpid()) + "/fd") return -1;
  return number_of<int>(link.filename().string()).value_or(-1);
}

}  // namespace

Result<WriteTarget> write_target(const fs::path& path) {
  WriteTarget target;
  target.path = path;
  for (int links = 0; links < kMostLinks; ++links) {
    struct stat info {};
    if (lstat(target.path.c_str(), &info) != 0) {
      if (errno != ENOENT) return store_failure(path, "written", errno);
      return target;
    }
    if (!S_ISLNK(info.st_mode)) {
      target.info = info;
      return target;
    }
    target.open_fd = open_file_of(target.path);
    if (target.open_fd >= 0) return target;
    std::error_code error;
    const fs::path next = fs::read_symlink(target.path, error);
    if (error) return store_failure(path, "written", error.value());
    target.path = next.is_absolute() ? next : target.path.parent_path() / next;
  }
  return store_failure(path, "written", ELOOP);
}

int replace_file(const WriteTarget& target, std::span<const std::byte> bytes, Durability durability, mode_t mode) {
  if (target.info && faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0) return errno;
  // Beside the target, because a rename does not cross file systems.
  const std::string temporary = temporary_beside(target.path);
  // Nothing allocates from here to the rename, so that no exception leaves the temporary file behind.
  const std::string named = target.path.string();
  Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (file.get() < 0) return errno;
  int failed = 0;
  if (target.info) {
    // Keeps the old owner if this process may set it. The permissions are set last.
    if (fchown(file.get(), target.info->st_uid, target.info->st_gid) != 0 && errno != EPERM && errno != EINVAL)
      failed = errno;
    if (failed == 0 && fchmod(file.get(), target.info->st_mode & 0777) != 0 && errno != EPERM) failed = errno;
  }
  if (failed == 0) failed = write_bytes(file.get(), bytes, named);
  if (failed == 0 && durability == Durability::synced && fsync(file.get()) != 0) failed = errno;
  const int closing = file.close();
  if (failed == 0) failed = closing;
  if (failed == 0 && std::rename(temporary.c_str(), target.path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    unlink(temporary.c_str());
    return failed;
  }
  if (durability == Durability::synced)
    sync_folder(target.path.has_parent_path() ? target.path.parent_path() : fs::path("."));
  return 0;
}

int write_into(const WriteTarget& target, std::span<const std::byte> bytes) {
  const std::string named = target.path.string();  // before the file is opened, because this may throw
  Descriptor into;
  if (target.open_fd >= 0) {
    into = Descriptor(fcntl(target.open_fd, F_DUPFD_CLOEXEC, 0));
  } else {
    // Non-blocking, so that a pipe without a reader is an error instead of an endless wait.
    const bool regular = target.info && S_ISREG(target.info->st_mode);
    into =
        Descriptor(open(target.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (regular ? O_TRUNC : 0)));
    if (into.get() >= 0 && fcntl(into.get(), F_SETFL, fcntl(into.get(), F_GETFL) & ~O_NONBLOCK) != 0) return errno;
  }
  if (into.get() < 0) return errno;
  const int failed = write_bytes(into.get(), bytes, named);
  const int closing = into.close();
  return failed != 0 ? failed : closing;
}

tl::unexpected<Failure> store_failure(const fs::path& path, const std::string& what, int error) {
  std::string hint = "Check the rights of the file and its folder.";
  if (error == ENOSPC || error == EDQUOT) hint = "Free some space on that disk.";
  if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP) hint = "Check the path.";
  if (error == EROFS) hint = "That file system is read-only: use another folder.";
  return fail(Stage::store, path.string() + " could not be " + what + ": " + std::strerror(error) + ".", hint);
}

void inject_write_fault(std::optional<WriteFault> fault) {
  const std::lock_guard lock(fault_mutex);
  fault_injected = fault.has_value();
  injected_fault = std::move(fault);
}

}  // namespace attnscope::platform
