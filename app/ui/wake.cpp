#include "ui/wake.h"

#include <chrono>
#include <utility>

#include "platform/clock.h"

namespace attnscope::ui {

WakeTimer::WakeTimer(std::function<void()> wake) : wake_(std::move(wake)), thread_([this] { run(); }) {}

WakeTimer::~WakeTimer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void WakeTimer::within(double seconds) {
  const double due = platform::steady_ms() / 1000 + seconds;
  {
    const std::lock_guard lock(mutex_);
    if (due_ >= 0 && due_ <= due) return;
    due_ = due;
  }
  changed_.notify_one();
}

void WakeTimer::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (due_ < 0) {
      changed_.wait(lock);
      continue;
    }
    const double left = due_ - platform::steady_ms() / 1000;
    if (left > 0) {
      changed_.wait_for(lock, std::chrono::duration<double>(left));
      continue;
    }
    due_ = -1;
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace attnscope::ui
