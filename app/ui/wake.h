#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace attnscope::ui {

// An idle window draws no frame until an event comes. Work that is due later (a toast that disappears, settings to
// save) asks for one frame at that time.
class WakeTimer {
 public:
  explicit WakeTimer(std::function<void()> wake);
  ~WakeTimer();
  WakeTimer(const WakeTimer&) = delete;
  WakeTimer& operator=(const WakeTimer&) = delete;

  // A frame at most `seconds` from now; an earlier request stays in force.
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
