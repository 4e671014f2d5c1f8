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

// The experiment that the knobs ask for and the figures shown for it. Pure. While an experiment runs, the figures of
// earlier ones stay (kept); each stage replaces its own part (partial, then fresh). Once it has ended, nothing of an
// earlier experiment is left: a part that a failure kept from coming is failed, one that was never to come is none.
class FocusState {
 public:
  // The experiment is about to run: what is shown becomes kept.
  void want(Experiment experiment, Shared<Kernel> kernel, std::string change);
  // It is refused before anything is sent: what is shown stays, kept.
  void refuse(Experiment experiment, Shared<Kernel> kernel, std::string change, Failure failure);
  // An observation from before, complete (undo, redo), which the history holds as `run`; 0: it does not.
  void show(Shared<Observation> observation, Shared<Kernel> kernel, std::string change, uint64_t run);
  // What is shown, ended, is that run of the history.
  void set_run(uint64_t run);

  void set_same_code_as(std::string text) { view_.same_code_as = std::move(text); }
  // Of the wanted experiment's watch.
  void set_watch(WatchState state, double progress = 0, std::optional<Failure> failure = {});
  // The wanted experiment's observation, ended, has got something more: a watch.
  void amend(Shared<Observation> observation);
  // The wanted experiment's run is that job; its end and another wish make it none.
  void started(JobId job) { job_ = job; }
  bool is(JobId job) const { return job_ != 0 && job_ == job; }
  // It runs or has run well: a request for the same experiment changes nothing.
  bool settled() const { return job_ != 0 || (!view_.running && !view_.failure); }
  // Without effect when nothing runs. total 0: how far is unknown.
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
