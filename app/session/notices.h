#pragma once
#include <string>
#include <vector>

#include "core/result.h"
#include "session/snapshot.h"

namespace attnscope::session {

// The log's last lines and the toasts that stand.
class Notices {
 public:
  static constexpr size_t kMaxLines = 2000;
  static constexpr size_t kMaxToasts = 6;  // the oldest gives way

  void log(LogLevel level, std::string text);
  // A toast and a log line.
  void toast(LogLevel level, const std::string& text, const std::string& hint = {});
  // Nothing where there is none.
  void toast(const std::optional<Failure>& failure) {
    if (failure) toast(LogLevel::error, failure->message, failure->hint);
  }
  void dismiss(uint64_t id);

  Shared<std::vector<LogLine>> lines();  // shared until the next line comes
  const std::vector<Toast>& toasts() const { return toasts_; }

 private:
  std::vector<LogLine> lines_;
  Shared<std::vector<LogLine>> shown_;
  std::vector<Toast> toasts_;
  uint64_t next_toast_ = 1;
};

}  // namespace attnscope::session
