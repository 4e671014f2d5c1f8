#include "platform/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace attnscope::platform {

int Descriptor::close() {
  const int fd = release();
  return fd >= 0 && ::close(fd) != 0 ? errno : 0;
}

std::optional<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

int write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(wrote));
    } else if (errno == EAGAIN) {  // another process that shares the descriptor made it non-blocking
      pollfd room{fd, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace attnscope::platform
