#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// A program that runs in the background until it ends or is ended. A thread reads its output, with both streams merged.
class BackgroundTool {
 public:
  // The thread calls `on_change` after each output and at the end; it may only wake the caller. If the program cannot
  // be started, its output says so and it ends with 126 or 127, as in a shell. A missing shell is a Failure.
  static Result<std::unique_ptr<BackgroundTool>> start(const std::vector<std::string>& argv,
                                                       std::function<void()> on_change);
  ~BackgroundTool();  // ends the program and everything that it started
  BackgroundTool(const BackgroundTool&) = delete;
  BackgroundTool& operator=(const BackgroundTool&) = delete;

  void cancel();
  std::string output() const;            // the output so far; if it is long, only its end
  std::optional<int> exit_code() const;  // empty while it runs; 128 + the signal's number if a signal ended it

 private:
  BackgroundTool() = default;
  void read_to_the_end();

  pid_t pid_ = -1;
  int out_fd_ = -1;
  std::function<void()> on_change_;
  mutable std::mutex mutex_;
  std::string output_;            // guarded by mutex_
  std::optional<int> exit_code_;  // guarded by mutex_; once it is set, the pid may belong to another process
  std::thread reader_;
};

}  // namespace attnscope::platform
