#include "platform/standard_streams.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <utility>

#include "platform/descriptor.h"

namespace attnscope::platform {
namespace {

bool used = false;  // write_stdout() was called
int failed = 0;     // errno of its first failed write

}  // namespace

void hold_standard_streams() {
  // open() returns the lowest free number. A read-only stdout refuses writes.
  for (const auto& [fd, mode] : {std::pair(0, O_RDONLY), std::pair(1, O_RDONLY), std::pair(2, O_WRONLY)})
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", mode);
}

int write_stdout(std::string_view text) {
  used = true;
  if (failed == 0) failed = write_all(STDOUT_FILENO, std::as_bytes(std::span(text)));
  return failed;
}

int close_stdout() {
  if (!std::exchange(used, false)) return failed;
  if (close(STDOUT_FILENO) != 0 && failed == 0) failed = errno;
  return failed;
}

void write_stderr(std::string_view text) { (void)write_all(STDERR_FILENO, std::as_bytes(std::span(text))); }

bool is_raw_terminal(int fd) {
  termios state{};
  return tcgetattr(fd, &state) == 0 && (state.c_oflag & OPOST) == 0;
}

}  // namespace attnscope::platform
