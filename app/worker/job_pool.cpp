#include "worker/job_pool.h"

#include "platform/process.h"

namespace attnscope::worker {

namespace {
constexpr int kNice = 5;  // behind a window's threads, ahead of the emulator's
}

JobPool::JobPool(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

JobPool::~JobPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    jobs_.clear();
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

void JobPool::serve() {
  platform::lower_thread_priority(kNice);
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace attnscope::worker
