#include "platform/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace attnscope::platform {
namespace {

bool used = false;  // write_stdout() was called
int failed = 0;     // errno of its first failed write

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<size_t>(wrote));
    } else if (errno == EAGAIN) {  // another process that shares the descriptor made it non-blocking
      pollfd room{fd, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void hold_standard_streams() {
  // open() returns the lowest free number. A read-only stdout refuses writes.
  for (const auto& [fd, mode] : {std::pair(0, O_RDONLY), std::pair(1, O_RDONLY), std::pair(2, O_WRONLY)})
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", mode);
}

int write_stdout(std::string_view text) {
  used = true;
  if (failed == 0) failed = write_all(STDOUT_FILENO, text);
  return failed;
}

int close_stdout() {
  if (!std::exchange(used, false)) return failed;
  if (close(STDOUT_FILENO) != 0 && failed == 0) failed = errno;
  return failed;
}

void write_stderr(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

bool is_raw_terminal(int fd) {
  termios state{};
  return tcgetattr(fd, &state) == 0 && (state.c_oflag & OPOST) == 0;
}

}  // namespace attnscope::platform
