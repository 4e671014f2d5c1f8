#include "emulator/exec/pool.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

#include "platform/process.h"

namespace attnscope::emulator {

Pool& Pool::instance() {
  static auto* pool = new Pool;  // never destroyed, because its threads may outlive static destruction
  return *pool;
}

size_t Pool::grow(size_t count) {
  while (workers_.size() < count) {
    workers_.push_back(std::make_unique<Worker>());
    try {
      std::thread([this, i = workers_.size() - 1] { serve(i); }).detach();
    } catch (const std::system_error&) {
      workers_.pop_back();  // a wait for a worker without a thread would never end
      break;
    } catch (...) {
      workers_.pop_back();
      throw;
    }
  }
  return std::min(count, workers_.size());
}

void Pool::start(Job& job, size_t threads) {
  {
    std::lock_guard lock(mutex_);
    job_ = &job;
    threads_ = threads;
    running_ = threads;
    ++generation_;
  }
  wake_.notify_all();
}

bool Pool::wait(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return running_ == 0 || news_; });
  news_ = false;
  return running_ == 0;
}

void Pool::tell() {
  {
    std::lock_guard lock(mutex_);
    news_ = true;
  }
  changed_.notify_all();
}

void Pool::serve(size_t i) {
  platform::lower_thread_priority();
  uint64_t seen = 0;
  for (;;) {
    Job* job = nullptr;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      if (i < threads_) job = job_;
    }
    if (job == nullptr) continue;
    work(*job, *workers_[i]);
    {
      std::lock_guard lock(mutex_);
      --running_;
    }
    changed_.notify_all();
  }
}

void Pool::work(Job& job, Worker& worker) {
  if (job.launch->cooperative) return run_together(job, worker);
  while (!job.stop.load(std::memory_order_relaxed)) {
    const uint32_t turn = job.next.fetch_add(1, std::memory_order_relaxed);
    if (turn >= job.count) break;
    const uint32_t cta = job.order != nullptr ? (*job.order)[turn] : turn;
    const CtaEnd end = run_one(job, worker, cta);
    if (end == CtaEnd::done) continue;
    worker.end = end;
    worker.end_cta = cta;
    job.stop.store(true, std::memory_order_relaxed);
    break;
  }
}

// An exception that leaves a thread would end the process.
CtaEnd Pool::run_one(Job& job, Worker& worker, uint32_t cta) try {
  const CtaEnd end = worker.runner.run(cta, job.stop);
  if (end == CtaEnd::done) completed(worker, cta);
  return end;
} catch (const std::bad_alloc&) {
  return CtaEnd::no_memory;
}

void Pool::run_together(Job& job, Worker& worker) try {
  const CtaRunner::Together told{[&](uint32_t cta) { completed(worker, cta); }, {}};
  worker.end = worker.runner.run_together(job.stop, told, worker.end_cta);
  if (worker.end != CtaEnd::done) job.stop.store(true, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  worker.end = CtaEnd::no_memory;
  job.stop.store(true, std::memory_order_relaxed);
}

void Pool::completed(Worker& worker, uint32_t cta) {
  bool published = false;
  {
    std::lock_guard lock(worker.mutex);
    worker.completed.push_back(cta);
    ++worker.ctas;
    if (worker.wanted.exchange(false, std::memory_order_relaxed)) {
      worker.publish_locked();
      published = true;
    }
  }
  if (published) tell();
}

}  // namespace attnscope::emulator
