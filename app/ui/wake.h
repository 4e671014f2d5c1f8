#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace attnscope::ui {

// Wakes the window for later work. An idle window draws no frame until an event arrives, so work that is due later (a
// toast that disappears, settings to save) requests a frame at that time.
class WakeTimer {
 public:
  explicit WakeTimer(std::function<void()> wake);
  ~WakeTimer();
  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  // Requests a frame at most `seconds` from now. An earlier request stays in force.
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
