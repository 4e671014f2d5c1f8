#include "worker/job_pool.h"

#include "platform/process.h"

namespace attnscope::worker {

namespace {
constexpr int kNice = 5;  // below the window's threads, above the emulator's
}

JobPool::JobPool(unsigned threads) : most_left_(threads - 1) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

JobPool::~JobPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
    left_.clear();
  }
  posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void JobPool::post(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  posted_.notify_one();
}

void JobPool::leave(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    left_.push_back(std::move(job));
  }
  posted_.notify_one();
}

void JobPool::serve() {
  platform::lower_thread_priority(kNice);
  for (;;) {
    std::function<void()> job;
    bool left = false;
    {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [this] { return stopping_ || !jobs_.empty() || may_do_left(); });
      if (stopping_ && jobs_.empty()) return;
      left = jobs_.empty();
      std::deque<std::function<void()>>& from = left ? left_ : jobs_;
      job = std::move(from.front());
      from.pop_front();
      if (left) ++doing_left_;
    }
    job();
    if (!left) continue;
    {
      const std::lock_guard lock(mutex_);
      --doing_left_;
    }
    posted_.notify_one();
  }
}

}  // namespace attnscope::worker
