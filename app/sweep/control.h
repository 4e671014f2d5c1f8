#pragma once
#include <condition_variable>
#include <mutex>

namespace attnscope::sweep {

// A person's commands to a sweep that runs on another thread. Thread-safe.
class Control {
 public:
  void pause() { set(Wish::pause); }
  void resume() { set(Wish::go); }
  void stop() { set(Wish::stop); }  // permanent

  bool paused() const { return wish() == Wish::pause; }
  bool stopped() const { return wish() == Wish::stop; }
  bool interrupts() const { return wish() != Wish::go; }
  // Blocks while the sweep is paused. Returns false if it is stopped.
  bool may_go_on() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return wish_ != Wish::pause; });
    return wish_ == Wish::go;
  }

 private:
  enum class Wish { go, pause, stop };
  Wish wish() const {
    const std::lock_guard lock(mutex_);
    return wish_;
  }
  void set(Wish wish) {
    const std::lock_guard lock(mutex_);
    if (wish_ != Wish::stop) wish_ = wish;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Wish wish_ = Wish::go;
};

}  // namespace attnscope::sweep
