#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/observation.h"
#include "session/lanes.h"

namespace attnscope::session {

// The watch of what ran in focus: at most one waits or runs, and what came of those before is remembered. Pure. A watch
// depends on all of an experiment but how it is measured.
class WatchLane {
 public:
  static constexpr size_t kMostRemembered = 512;

  void wait(std::shared_ptr<const Observation> observation) { waiting_ = std::move(observation); }
  std::shared_ptr<const Observation> take() { return std::exchange(waiting_, nullptr); }
  void started(JobId job) { job_ = job; }
  bool running() const { return job_ != 0; }
  bool is(JobId job) const { return job_ == job; }
  // The config changes: the watch of the one before is of no use.
  void drop();

  // The watch that is known of the same kernel and config; null: none is.
  std::shared_ptr<const Observation> known(const Experiment& experiment) const;
  void remember(const Experiment& experiment, std::shared_ptr<const Observation> watched);
  // The run of the watch ended: `before` with what it found out. The failure is the watch's own.
  Result<std::shared_ptr<const Observation>> finish(const Observation& before, const Observation& watched,
                                                    std::optional<Failure> failure);

 private:
  std::shared_ptr<const Observation> waiting_;
  JobId job_ = 0;                                                      // 0: none runs
  std::map<std::string, std::shared_ptr<const Observation>> watched_;  // by the experiment's hash without its measuring
};

// `to` with what a watch found out about the same kernel; of a GPU's kernel it brings counters too.
std::shared_ptr<const Observation> with_watch_of(const Observation& to, const Observation& watched);

}  // namespace attnscope::session
