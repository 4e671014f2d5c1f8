#include "session/notices.h"

#include <algorithm>

#include "platform/clock.h"

namespace attnscope::session {
namespace {

constexpr size_t kLongestLine = 4096;  // bytes: a worker may write any amount

// Cuts at a character boundary.
std::string shortened(std::string text) {
  if (text.size() <= kLongestLine) return text;
  size_t end = kLongestLine;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  text.shrink_to_fit();
  return text + "…";
}

}  // namespace

void Notices::log(LogLevel level, std::string text) {
  // Removes a tenth at a time, so that a full log does not shift all lines for each new one.
  if (lines_.size() >= kMaxLines) lines_.erase(lines_.begin(), lines_.begin() + kMaxLines / 10);
  lines_.push_back({platform::wall_seconds(), level, shortened(std::move(text))});
  shown_.reset();
}

void Notices::toast(LogLevel level, const std::string& text, const std::string& hint) {
  log(level, hint.empty() ? text : text + " (" + hint + ")");
  if (toasts_.size() >= kMaxToasts) toasts_.erase(toasts_.begin());
  toasts_.push_back({next_toast_++, level, text, hint});
}

void Notices::dismiss(uint64_t id) {
  std::erase_if(toasts_, [id](const Toast& toast) { return toast.id == id; });
}

Shared<std::vector<LogLine>> Notices::lines() {
  if (!shown_) shown_ = share(lines_);
  return shown_;
}

}  // namespace attnscope::session
