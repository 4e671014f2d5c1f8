#include "platform/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attnscope::platform {

Result<FileLock> FileLock::lock(const std::filesystem::path& file, int operation) {
  FileLock made(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!made.held())
    return fail(Stage::store, file.string() + ": " + std::strerror(errno),
                "Check that the folder exists and is yours.");
  int status;
  do status = flock(made.fd_, operation);
  while (status != 0 && errno == EINTR);
  if (status == 0) return made;
  if (errno == EWOULDBLOCK) return FileLock(-1);
  return fail(Stage::store, file.string() + ": cannot be locked: " + std::strerror(errno),
              "Use a folder on a local disk.");
}

Result<FileLock> FileLock::wait(const std::filesystem::path& file) { return lock(file, LOCK_EX); }
Result<FileLock> FileLock::try_now(const std::filesystem::path& file) { return lock(file, LOCK_EX | LOCK_NB); }

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace attnscope::platform
