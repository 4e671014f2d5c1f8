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

// A program that runs beside us until it ends or is ended. What it prints, both streams as one, is read by a thread.
class BackgroundTool {
 public:
  // `on_change` is called from that thread after output and at the end, and may only wake the caller. A program that
  // cannot be started says so in its output and ends with 126 or 127, as a shell has it; no shell at all is a Failure.
  static Result<std::unique_ptr<BackgroundTool>> start(const std::vector<std::string>& argv,
                                                       std::function<void()> on_change);
  ~BackgroundTool();  // ends it, and what it started
  BackgroundTool(const BackgroundTool&) = delete;
  BackgroundTool& operator=(const BackgroundTool&) = delete;

  void cancel();
  std::string output() const;            // so far; of a long one its end
  std::optional<int> exit_code() const;  // empty: it runs; 128 and the signal's number where one ended it

 private:
  BackgroundTool() = default;
  void read_to_the_end();

  pid_t pid_ = -1;
  int out_fd_ = -1;
  std::function<void()> on_change_;
  mutable std::mutex mutex_;
  std::string output_;            // guarded by mutex_
  std::optional<int> exit_code_;  // guarded by mutex_; set: the pid may be another's by now
  std::thread reader_;
};

}  // namespace attnscope::platform
