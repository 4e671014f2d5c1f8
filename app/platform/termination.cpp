#include "platform/termination.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

namespace attnscope::platform {
namespace {

constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};
constexpr char kAsked = 'a', kOver = 'o';

std::atomic<int> write_end = -1;  // a signal handler can access nothing else
struct sigaction before[kSignals.size()];

void handle(int) {
  const int error = errno;
  (void)!write(write_end, &kAsked, 1);
  errno = error;
}

void listen(int read_end, const std::function<void()>& asked) {
  char what = kOver;
  for (;;) {
    const ssize_t got = read(read_end, &what, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || what == kOver) return;
    asked();
  }
}

}  // namespace

OnTermination::OnTermination(std::function<void()> asked) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  read_end_ = ends[0];
  write_end = ends[1];
  listener_ = std::thread([end = read_end_, asked = std::move(asked)] { listen(end, asked); });
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before[i]);
}

OnTermination::~OnTermination() {
  if (!listener_.joinable()) return;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
  const int end = write_end.exchange(-1);
  (void)!write(end, &kOver, 1);
  listener_.join();
  close(end);
  close(read_end_);
}

}  // namespace attnscope::platform
