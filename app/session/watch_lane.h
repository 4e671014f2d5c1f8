#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/observation.h"
#include "protocol/part.h"
#include "session/lanes.h"
#include "session/shared.h"

namespace attnscope::session {

// The watch of a run in focus: at most one waits or runs, and the results of earlier ones are remembered. Pure. A
// watch's result depends on everything in an experiment except the measuring policy.
class WatchLane {
 public:
  static constexpr size_t kMostRemembered = 512;

  void wait(Shared<Observation> observation) { waiting_ = std::move(observation); }
  Shared<Observation> take() { return std::exchange(waiting_, nullptr); }
  // `job` watches the run that produced `before`.
  void started(JobId job, Shared<Observation> before);
  // The job is sent, perhaps again: drops the parts received so far.
  void restart();
  void take_part(const protocol::Part& part);  // ignores parts of other jobs
  bool running() const { return job_ != 0; }
  bool is(JobId job) const { return job_ == job; }
  // The config has changed: drops the watch of the previous one.
  void drop();

  // The remembered watch of the same kernel and config; null if there is none.
  Shared<Observation> known(const Experiment& experiment) const;
  void remember(const Experiment& experiment, Shared<Observation> watched);
  // The job ended. Returns before() with the watch's results, or the watch's failure.
  Result<Shared<Observation>> finish(std::optional<Failure> failure);
  const Shared<Observation>& before() const { return before_; }  // the observation that the watch belongs to

 private:
  Shared<Observation> waiting_, before_;
  Observation own_;
  JobId job_ = 0;                                       // 0: none runs
  std::map<std::string, Shared<Observation>> watched_;  // by the experiment's hash without its measuring policy
};

// Returns `to` with the results of a watch of the same kernel. A GPU's observation gets the watch's counters too.
Shared<Observation> with_watch_of(const Observation& to, const Observation& watched);

}  // namespace attnscope::session
