#include "platform/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "platform/clock.h"

namespace attnscope::platform {
namespace {

constexpr std::chrono::milliseconds kPause(10);

bool file_system_lacks_locks(int error) {
  return error == ENOLCK || error == ENOTSUP || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

}  // namespace

Result<FileLock> FileLock::within(const std::filesystem::path& file, int patience_ms) {
  FileLock made(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), true);
  if (!made.held())
    return fail(Stage::store, file.string() + ": " + std::strerror(errno),
                "Check that the folder exists and is yours.");
  const double end = steady_ms() + patience_ms;
  for (;;) {
    if (flock(made.fd_, LOCK_EX | LOCK_NB) == 0) return made;
    const int error = errno;
    if (file_system_lacks_locks(error)) return FileLock(-1, false);
    if (error != EWOULDBLOCK && error != EINTR)
      return fail(Stage::store, file.string() + ": cannot be locked: " + std::strerror(error),
                  "Use a folder on a local disk.");
    if (steady_ms() >= end) return FileLock(-1, true);
    std::this_thread::sleep_for(kPause);
  }
}

bool FileLock::shares_memory() const {
  void* page = held() ? mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0) : MAP_FAILED;
  if (page == MAP_FAILED) return false;
  munmap(page, 1);
  return true;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace attnscope::platform
