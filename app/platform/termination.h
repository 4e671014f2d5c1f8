#pragma once
#include <functional>
#include <thread>

namespace attnscope::platform {

// While it lives, SIGTERM, SIGINT and SIGHUP call `asked`, on a thread of its own, instead of ending the process: there
// is something to be written first. A second signal of the same kind ends the process at once, as ever. One at a time.
class OnTermination {
 public:
  explicit OnTermination(std::function<void()> asked);
  ~OnTermination();
  OnTermination(const OnTermination&) = delete;
  OnTermination& operator=(const OnTermination&) = delete;

 private:
  int read_end_ = -1;
  std::thread listener_;  // not running when the process has no file handle left: signals then end it, as ever
};

}  // namespace attnscope::platform
