#pragma once
#include <string>
#include <vector>

#include "core/result.h"
#include "session/snapshot.h"

namespace attnscope::session {

// The last lines of the log and the toasts on the screen.
class Notices {
 public:
  static constexpr size_t kMaxLines = 2000;
  static constexpr size_t kMaxToasts = 6;  // beyond them the oldest is removed

  void log(LogLevel level, std::string text);
  // A toast and a log line.
  void toast(LogLevel level, const std::string& text, const std::string& hint = {});
  // Does nothing if there is no failure.
  void toast(const std::optional<Failure>& failure) {
    if (failure) toast(LogLevel::error, failure->message, failure->hint);
  }
  void dismiss(uint64_t id);

  Shared<std::vector<LogLine>> lines();  // the same object until a line is added
  const std::vector<Toast>& toasts() const { return toasts_; }

 private:
  std::vector<LogLine> lines_;
  Shared<std::vector<LogLine>> shown_;
  std::vector<Toast> toasts_;
  uint64_t next_toast_ = 1;
};

}  // namespace attnscope::session
