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
#include "worker/job_pool.h"

namespace attnscope::worker {

// Compiles what runs next while something else runs. The caches on disk take the result; a failure is left to the run
// itself, which meets it again. Of the thread that runs experiments.
class Ahead {
 public:
  struct Work {
    std::shared_ptr<compile::Compiler> compiler;
    std::shared_ptr<device::Device> device;
    Kernel kernel;
    Experiment experiment;
  };

  // `keeps`: there is a cache; without one nothing is done.
  Ahead(JobPool& pool, bool keeps) : pool_(pool), keeps_(keeps) {}
  // Each experiment once.
  void begin(Work work);
  // Waits for that experiment's compilation if it has begun; if not, it is left to the caller. False: cancelled.
  bool wait_for(const Experiment& experiment, const std::atomic<bool>& cancel);
  // Its compilation has begun and ended.
  bool is_done(const Experiment& experiment) const;

 private:
  static constexpr size_t kMostKept = 256;

  struct Job {
    std::atomic<bool> taken{false};  // by the pool, or by the run that needs it
    std::promise<void> done;
    std::shared_future<void> ended = done.get_future().share();
  };

  JobPool& pool_;
  bool keeps_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // by the experiment's hash
};

}  // namespace attnscope::worker
