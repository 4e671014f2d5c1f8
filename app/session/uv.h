#pragma once
#include <uv.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

// The parts of libuv that the session uses, with RAII. Everything here runs on the loop's thread, except Inbox::post().
namespace attnscope::session {

// Closes a handle and deletes it in the close callback: libuv frees nothing, and the memory must live until then.
struct CloseHandle {
  template <class Handle>
  void operator()(Handle* handle) const {
    handle->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(handle),
             [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
  }
};
template <class Handle>
using Uv = std::unique_ptr<Handle, CloseHandle>;

// Calls `fire` once, `delay_ms` after the last start().
class Timer {
 public:
  Timer(uv_loop_t* loop, std::function<void()> fire) : fire_(std::move(fire)), handle_(new uv_timer_t{}) {
    uv_timer_init(loop, handle_.get());
    handle_->data = this;
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void start(uint64_t delay_ms) {
    uv_timer_start(
        handle_.get(), [](uv_timer_t* timer) { static_cast<Timer*>(timer->data)->fire_(); }, delay_ms, 0);
  }
  void stop() { uv_timer_stop(handle_.get()); }
  bool running() const { return uv_is_active(reinterpret_cast<const uv_handle_t*>(handle_.get())) != 0; }

 private:
  std::function<void()> fire_;
  Uv<uv_timer_t> handle_;
};

// Work for the loop's thread from other threads, run in order. post() holds a lock only for a push and never waits for
// the loop.
class Inbox {
 public:
  // The loop must outlive the inbox. Returns false if libuv cannot create its wake-up handle.
  bool open(uv_loop_t* loop) {
    handle_.reset(new uv_async_t{});
    const int made =
        uv_async_init(loop, handle_.get(), [](uv_async_t* async) { static_cast<Inbox*>(async->data)->drain(); });
    if (made != 0)
      delete handle_.release();
    else
      handle_->data = this;
    return made == 0;
  }
  // Returns false after close(); the work is dropped.
  bool post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (closed_ || !handle_) return false;
    work_.push_back(std::move(work));
    uv_async_send(handle_.get());
    return true;
  }
  // Call on the loop's thread. Work posted earlier still runs; later posts are refused.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    drain();
    handle_.reset();
  }

 private:
  void drain() {
    std::vector<std::function<void()>> work;
    {
      const std::lock_guard lock(mutex_);
      work.swap(work_);
    }
    for (auto& item : work) item();
  }

  std::mutex mutex_;
  std::vector<std::function<void()>> work_;  // guarded by mutex_
  bool closed_ = false;                      // guarded by mutex_
  // Set before the loop runs; reset on the loop's thread after closed_ is set.
  Uv<uv_async_t> handle_;
};

}  // namespace attnscope::session
