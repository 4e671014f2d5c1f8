#pragma once
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace attnscope::testing_support {

// Tries what walls may forbid. Returns the errno of the attempt; 0 on success.
inline int try_open(const std::filesystem::path& path, int flags = O_RDONLY) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}
inline int try_socket(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

}  // namespace attnscope::testing_support
