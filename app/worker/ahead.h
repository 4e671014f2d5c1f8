#pragma once
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <string>

#include "compile/compiler.h"
#include "core/experiment.h"
#include "core/kernel.h"
#include "device/device.h"
#include "protocol/message.h"
#include "worker/job_pool.h"

namespace attnscope::worker {

// Compiles the experiments that run next while another one runs. The caches on disk keep the results. Failures are
// ignored, because the run itself meets them again. Call only from the thread that runs experiments.
class Ahead {
 public:
  struct Work {
    std::shared_ptr<compile::Compiler> compiler;
    std::shared_ptr<device::Device> device;
    Kernel kernel;
    Experiment experiment;
    int64_t compile_ms = protocol::Deadlines{}.compile_ms;  // the deadline for compiling
  };

  // `keeps`: there is a cache on disk. Without one, nothing is compiled ahead.
  Ahead(JobPool& pool, bool keeps) : pool_(pool), keeps_(keeps) {}
  // Begins a compilation. Each experiment is compiled at most once.
  void begin(Work work);
  // Waits for that experiment's compilation if it has begun. If it has not, returns at once and the caller compiles.
  // Returns false if cancelled.
  bool wait_for(const Experiment& experiment, const std::atomic<bool>& cancel);
  // True if its compilation has begun and ended.
  bool is_done(const Experiment& experiment) const;

 private:
  static constexpr size_t kMostKept = 256;

  struct Job {
    std::atomic<bool> taken{false};  // by the pool, or by the run that needs the result
    std::promise<void> done;
    std::shared_future<void> ended = done.get_future().share();
  };

  JobPool& pool_;
  bool keeps_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // by experiment hash
};

}  // namespace attnscope::worker
