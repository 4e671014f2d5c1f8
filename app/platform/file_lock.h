#pragma once
#include <filesystem>
#include <utility>

#include "core/result.h"

namespace attnscope::platform {

// An advisory lock between processes (flock), held until destruction; the kernel releases it if the holder dies. The
// file is created and never removed: otherwise two holders could lock two files with the same name.
class FileLock {
 public:
  // Waits up to `patience_ms`. Returns an empty lock (held() is false) if another process still holds it, or if the
  // file system has no locks (supported() is false). A lock file that cannot be opened is a Failure (Stage::store).
  static Result<FileLock> within(const std::filesystem::path& file, int patience_ms);

  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), supported_(other.supported_) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(supported_, other.supported_);
    return *this;
  }
  ~FileLock();
  bool held() const { return fd_ >= 0; }
  bool supported() const { return supported_; }
  // True if the file system lets processes share a file's memory (mmap), tested on the file of a held lock.
  bool shares_memory() const;

 private:
  FileLock(int fd, bool supported) : fd_(fd), supported_(supported) {}
  int fd_;
  bool supported_;
};

}  // namespace attnscope::platform
