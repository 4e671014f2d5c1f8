#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace attnscope::ui {

// At rest no frame is drawn until an event comes. What is due later (a toast that leaves, settings to be kept) asks for
// one frame at that time.
class WakeTimer {
 public:
  explicit WakeTimer(std::function<void()> wake);
  ~WakeTimer();
  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  // A frame `seconds` from now at the latest; an earlier one that was asked for stands.
  void within(double seconds);

 private:
  void run();

  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  double due_ = -1;  // seconds on the steady clock; negative: none
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace attnscope::ui
