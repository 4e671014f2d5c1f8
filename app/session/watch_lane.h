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

// The watch of a run in focus: at most one waits or runs, and the results of earlier ones are remembered. Pure. A watch
// depends on everything in an experiment except how it is measured.
class WatchLane {
 public:
  static constexpr size_t kMostRemembered = 512;

  void wait(Shared<Observation> observation) { waiting_ = std::move(observation); }
  Shared<Observation> take() { return std::exchange(waiting_, nullptr); }
  // That observation's watch is that job.
  void started(JobId job, Shared<Observation> before);
  // It is sent, perhaps once more: what came before does not count.
  void restart();
  void take_part(const protocol::Part& part);  // without effect on what is not its job's
  bool running() const { return job_ != 0; }
  bool is(JobId job) const { return job_ == job; }
  // The config changes: the watch of the previous one is no longer needed.
  void drop();

  // The known watch of the same kernel and config; null: none.
  Shared<Observation> known(const Experiment& experiment) const;
  void remember(const Experiment& experiment, Shared<Observation> watched);
  // The job ended: before() with what it found out. The failure is the watch's own.
  Result<Shared<Observation>> finish(std::optional<Failure> failure);
  const Shared<Observation>& before() const { return before_; }  // what the last watch is of

 private:
  Shared<Observation> waiting_, before_;
  Observation own_;
  JobId job_ = 0;                                       // 0: none runs
  std::map<std::string, Shared<Observation>> watched_;  // by the experiment's hash without its measuring
};

// `to` with what a watch found out about the same kernel; of a GPU's kernel it brings counters too.
Shared<Observation> with_watch_of(const Observation& to, const Observation& watched);

}  // namespace attnscope::session
