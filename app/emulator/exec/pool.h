#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/exec/cta.h"

namespace attnscope::emulator {

// One run, as seen by its threads.
struct Job {
  const BoundLaunch* launch = nullptr;
  const std::vector<uint32_t>* order = nullptr;  // CTAs; nullptr: all in ascending order
  uint32_t count = 0;
  std::atomic<uint32_t> next{0};
  std::atomic<bool> stop{false};
};

// A pool thread: its machine, and the progress it has published.
struct Worker {
  CtaRunner runner;
  std::mutex mutex;  // guards the members below
  std::vector<OpCounts> published_ops;
  std::vector<BlockCounts> published_blocks;
  std::vector<uint32_t> completed;  // since the caller last looked
  uint32_t ctas = 0;
  std::atomic<bool> wanted{false};  // the caller asks for progress
  CtaEnd end = CtaEnd::done;
  uint32_t end_cta = 0;

  void publish_locked() {
    published_ops = runner.op_counts();  // same size: no allocation
    published_blocks = runner.block_counts();
  }
};

// The host threads, shared by all runs of the process.
class Pool {
 public:
  static Pool& instance();

  std::mutex& turn() { return turn_; }
  Worker& worker(size_t i) { return *workers_[i]; }
  // Returns the resulting number of threads: fewer than `count`, or none, if the system refuses more.
  size_t grow(size_t count);
  void start(Job& job, size_t threads);
  // True if every thread is done; false if the time is up or a worker has published progress.
  bool wait(std::chrono::steady_clock::time_point until);

 private:
  void serve(size_t i);
  void work(Job& job, Worker& worker);
  CtaEnd run_one(Job& job, Worker& worker, uint32_t cta);
  void run_together(Job& job, Worker& worker);
  void completed(Worker& worker, uint32_t cta);
  void tell();

  std::mutex turn_;   // one run at a time
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_, changed_;
  Job* job_ = nullptr;
  size_t threads_ = 0, running_ = 0;
  uint64_t generation_ = 0;
  bool news_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
};

// Ensures that no thread works on a job that is about to be destroyed, on every way out of its scope.
class Finished {
 public:
  Finished(Pool& pool, Job& job) : pool_(pool), job_(job) {}
  Finished(const Finished&) = delete;
  ~Finished() {
    if (over) return;
    job_.stop = true;
    while (!pool_.wait(std::chrono::steady_clock::now() + std::chrono::seconds(1))) {
    }
  }
  bool over = false;

 private:
  Pool& pool_;
  Job& job_;
};

}  // namespace attnscope::emulator
