#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/result.h"

namespace attnscope::worker {

// Threads for work that cannot be interrupted (the compiler, the disassembler). A cancelled caller returns at once,
// while the work runs to its end and fills the cache for the next caller. The threads run at low priority, so that the
// window stays responsive.
class JobPool {
 public:
  // For a machine with so many cores: on all but one of them what is left can be done at once.
  static unsigned threads_for(int cores) { return static_cast<unsigned>(std::clamp(cores, kFewest, kMost)); }
  explicit JobPool(unsigned threads);
  ~JobPool();  // drops jobs that have not started and waits for those that have
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  // Runs `job` when nothing else waits, and never on all threads at once. `job` must own everything it uses.
  void leave(std::function<void()> job);

  // Returns the result of `work`, or Stage::cancelled within some milliseconds of `cancel`. `work` must own everything
  // it uses, because it may outlive this call. Work that is cancelled before it starts does not run.
  template <class T>
  Result<T> run(std::function<Result<T>()> work, const std::atomic<bool>& cancel) {
    auto task = std::make_shared<std::packaged_task<Result<T>()>>(std::move(work));
    auto wanted = std::make_shared<std::atomic<bool>>(true);
    std::future<Result<T>> result = task->get_future();
    post([task, wanted] {
      if (*wanted) (*task)();
    });
    while (result.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
      if (!cancel) continue;
      *wanted = false;
      return fail(Stage::cancelled, "cancelled", "");
    }
    return result.get();
  }

 private:
  static constexpr int kFewest = 3, kMost = 17;  // threads

  void post(std::function<void()> job);
  void serve();
  bool may_do_left() const { return !left_.empty() && doing_left_ < most_left_; }

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> jobs_, left_;
  const size_t most_left_;
  size_t doing_left_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace attnscope::worker
