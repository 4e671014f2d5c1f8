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
// earlier ones stay (kept); each stage replaces its own part (partial, then fresh). Once it has ended, nothing of an
// earlier experiment is left: a part that a failure prevented is failed, one that was not expected is none.
class FocusState {
 public:
  // The experiment is about to run: the shown parts become kept.
  void want(Experiment experiment, Shared<Kernel> kernel, std::string change);
  // It is refused before anything is sent: the shown parts stay, as kept.
  void refuse(Experiment experiment, Shared<Kernel> kernel, std::string change, Failure failure);
  // A complete earlier observation (undo, redo), which the history holds as `run`; 0: it does not.
  void show(Shared<Observation> observation, Shared<Kernel> kernel, std::string change, uint64_t run);
  // The shown observation has ended and is that run of the history.
  void set_run(uint64_t run);

  void set_same_code_as(std::string text) { view_.same_code_as = std::move(text); }
  // The state of the wanted experiment's watch.
  void set_watch(WatchState state, double progress = 0, std::optional<Failure> failure = {});
  // Adds a watch to the wanted experiment's ended observation.
  void amend(Shared<Observation> observation);
  // The wanted experiment's run is that job; its end and another wish make it none.
  void started(JobId job) { job_ = job; }
  bool is(JobId job) const { return job_ != 0 && job_ == job; }
  // It runs or has run without failure: a request for the same experiment changes nothing.
  bool settled() const { return job_ != 0 || (!view_.running && !view_.failure); }
  // No effect if nothing runs. total 0: the progress is unknown.
  void progress(std::string stage, int64_t done, int64_t total);

  // A streamed part of the wanted experiment.
  void apply(const protocol::Part& given);
  // The wanted experiment's run starts, perhaps over (its worker went away): nothing of its own is shown.
  void restart();
  // The end of the wanted experiment's run. Returns its own observation.
  Shared<Observation> finish(std::optional<Failure> failure);

  const Experiment& wanted() const { return view_.wanted; }
  const std::string& wanted_hash() const { return view_.wanted_hash; }
  const Shared<Kernel>& kernel() const { return kernel_; }
  bool running() const { return view_.running; }
  const Observation& own() const { return own_; }  // only of the wanted experiment, as far as it came
  Focus view() const;

 private:
  struct Origin {
    Experiment experiment;
    std::string hash;
    Shared<Kernel> kernel;
    uint64_t run = 0;  // in the history; 0: not there yet
  };

  void set_wanted(Experiment experiment, Shared<Kernel> kernel, std::string change);
  void name_origins();

  Focus view_;             // without `shown`
  JobId job_ = 0;          // 0: none runs
  Shared<Kernel> kernel_;  // of the wanted experiment
  Observation own_;
  std::optional<Observation> shown_;  // may mix experiments while one runs
  std::array<Shared<Origin>, kParts> origins_;
  bool own_started_ = false;               // a part of the wanted experiment came
  mutable Shared<Observation> published_;  // shown_ as a snapshot holds it; empty: changed since
};

}  // namespace attnscope::session
