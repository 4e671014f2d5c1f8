#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/kernel.h"
#include "core/observation.h"
#include "protocol/part.h"
#include "session/lanes.h"
#include "session/snapshot.h"

namespace attnscope::session {

// The experiment that the knobs describe and the figures shown for it. Pure. While an experiment runs, the figures of
// earlier ones stay (kept), and each stage replaces its own part (partial, then fresh). When it has ended, nothing of
// an earlier experiment is left: a part that a failure prevented is failed, and one that was not expected is none.
class FocusState {
 public:
  // Call before the experiment runs: the shown parts become kept.
  void want(Experiment experiment, Shared<Kernel> kernel, std::string change);
  // The experiment is refused before anything is sent: the shown parts stay, as kept.
  void refuse(Experiment experiment, Shared<Kernel> kernel, std::string change, Failure failure);
  // Shows a complete earlier observation (undo, redo). `run` is its id in the history; 0: it has none.
  void show(Shared<Observation> observation, Shared<Kernel> kernel, std::string change, uint64_t run);
  // The shown observation has ended and is `run` in the history.
  void set_run(uint64_t run);

  void set_same_code_as(std::string text) { view_.same_code_as = std::move(text); }
  // The state of the wanted experiment's watch.
  void set_watch(WatchState state, double progress = 0, std::optional<Failure> failure = {});
  // Adds a watch to the wanted experiment's ended observation.
  void amend(Shared<Observation> observation);
  // `job` runs the wanted experiment. The end of the run, or another wanted experiment, clears it.
  void started(JobId job) { job_ = job; }
  bool is(JobId job) const { return job_ != 0 && job_ == job; }
  // The wanted experiment is running or has run without failure, so another request for it changes nothing.
  bool settled() const { return job_ != 0 || (!view_.running && !view_.failure); }
  // Ignored if nothing runs. total 0: the progress is unknown.
  void progress(std::string stage, int64_t done, int64_t total);

  // Takes a streamed part of the wanted experiment.
  void apply(const protocol::Part& given);
  // The wanted experiment's run starts, or starts again after its worker went away. Its earlier parts are dropped.
  void restart();
  // The wanted experiment's run has ended. Returns its observation.
  Shared<Observation> finish(std::optional<Failure> failure);

  const Experiment& wanted() const { return view_.wanted; }
  const std::string& wanted_hash() const { return view_.wanted_hash; }
  const Shared<Kernel>& kernel() const { return kernel_; }
  bool running() const { return view_.running; }
  const Observation& own() const { return own_; }  // the parts of the wanted experiment so far, without kept ones
  Focus view() const;

 private:
  struct Origin {
    Experiment experiment;
    std::string hash;
    Shared<Kernel> kernel;
    uint64_t run = 0;  // id in the history; 0: not there yet
  };

  void set_wanted(Experiment experiment, Shared<Kernel> kernel, std::string change);
  void name_origins();

  Focus view_;             // without `shown`, which view() adds
  JobId job_ = 0;          // 0: none runs
  Shared<Kernel> kernel_;  // the wanted experiment's
  Observation own_;
  std::optional<Observation> shown_;  // may mix parts of several experiments while one runs
  std::array<Shared<Origin>, kParts> origins_;
  bool own_started_ = false;               // at least one part of the wanted experiment has arrived
  mutable Shared<Observation> published_;  // copy of shown_ for snapshots; empty: shown_ has changed since
};

}  // namespace attnscope::session
