#include "platform/descriptor.h"

#include <fcntl.h>
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

}  // namespace attnscope::platform
