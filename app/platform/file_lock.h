#pragma once
#include <filesystem>
#include <utility>

#include "core/result.h"

namespace attnscope::platform {

// An advisory lock between processes (flock), held until destruction; the kernel frees it when the holder dies. The
// file is created and left in place: removing it would let two holders lock two files of one name.
class FileLock {
 public:
  static Result<FileLock> wait(const std::filesystem::path& file);
  // Empty-handed (held() false) when another process has it.
  static Result<FileLock> try_now(const std::filesystem::path& file);

  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileLock();
  bool held() const { return fd_ >= 0; }

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  static Result<FileLock> lock(const std::filesystem::path& file, int operation);
  int fd_;
};

}  // namespace attnscope::platform
