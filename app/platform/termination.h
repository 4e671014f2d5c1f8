#pragma once
#include <functional>
#include <thread>

namespace attnscope::platform {

// While it lives, SIGTERM, SIGINT and SIGHUP call `asked` on a separate thread instead of ending the process, so that
// something can be written first. A second signal of the same kind ends the process at once. Only one may live at a
// time.
class OnTermination {
 public:
  explicit OnTermination(std::function<void()> asked);
  ~OnTermination();
  OnTermination(const OnTermination&) = delete;
  OnTermination& operator=(const OnTermination&) = delete;

 private:
  int read_end_ = -1;
  std::thread listener_;  // not running when the process has no file descriptor left: then signals end it as usual
};

}  // namespace attnscope::platform
