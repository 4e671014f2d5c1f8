#pragma once
#include <functional>
#include <thread>

namespace attnscope::platform {

// While it exists, SIGTERM, SIGINT and SIGHUP call `asked` on a separate thread instead of ending the process, so that
// pending data can be written. A second signal of the same kind ends the process at once. Only one may exist at a time.
class OnTermination {
 public:
  explicit OnTermination(std::function<void()> asked);
  ~OnTermination();
  OnTermination(const OnTermination&) = delete;
  OnTermination& operator=(const OnTermination&) = delete;

 private:
  int read_end_ = -1;
  std::thread listener_;  // not running if the process is out of file descriptors: signals then end it as usual
};

}  // namespace attnscope::platform
