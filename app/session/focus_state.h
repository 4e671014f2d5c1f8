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
  void want(Experiment experiment, std::shared_ptr<const Kernel> kernel, std::string change);
  // It is refused before anything is sent: what is shown stays, kept.
  void refuse(Experiment experiment, std::shared_ptr<const Kernel> kernel, std::string change, Failure failure);
  // An observation from before, complete (undo, redo), which the history holds as `run`; 0: it does not.
  void show(std::shared_ptr<const Observation> observation, std::shared_ptr<const Kernel> kernel, std::string change,
            uint64_t run);
  // What is shown, ended, is that run of the history.
  void set_run(uint64_t run);

  void set_change(std::string change) { view_.change = std::move(change); }
  void set_same_code_as(std::string text) { view_.same_code_as = std::move(text); }
  // Of the wanted experiment's watch.
  void set_watch(WatchState state, double progress = 0, std::optional<Failure> failure = {});
  // The wanted experiment's observation, ended, has got something more: a watch.
  void amend(std::shared_ptr<const Observation> observation);
  // The wanted experiment's run is that job; its end, another wish and leave() make it none.
  void started(JobId job) { job_ = job; }
  bool is(JobId job) const { return job_ != 0 && job_ == job; }
  bool leave() { return std::exchange(job_, 0) != 0; }  // whether there was one
  // It runs or has run well: a request for the same experiment changes nothing.
  bool settled() const { return job_ != 0 || (!view_.running && !view_.failure); }
  // Without effect when nothing runs. total 0: how far is unknown.
  void progress(std::string stage, int64_t done, int64_t total);

  // A streamed part of the wanted experiment.
  void apply(const protocol::Part& given);
  // The wanted experiment's run starts over (its worker went away): its own parts become kept.
  void restart();
  // The end of the wanted experiment's run. Returns its own observation.
  std::shared_ptr<const Observation> finish(std::optional<Failure> failure);

  const Experiment& wanted() const { return view_.wanted; }
  const std::string& wanted_hash() const { return view_.wanted_hash; }
  const std::shared_ptr<const Kernel>& kernel() const { return kernel_; }
  bool running() const { return view_.running; }
  const Observation& own() const { return own_; }  // of the wanted experiment alone, as far as it came
  Focus view() const;

 private:
  struct Origin {
    Experiment experiment;
    std::string hash;
    std::shared_ptr<const Kernel> kernel;
    uint64_t run = 0;  // in the history; 0: not there yet
  };

  void set_wanted(Experiment experiment, std::shared_ptr<const Kernel> kernel, std::string change);
  void keep_parts();
  void name_origins();

  Focus view_;                            // without `shown`
  JobId job_ = 0;                         // 0: none runs
  std::shared_ptr<const Kernel> kernel_;  // of the wanted experiment
  Observation own_;
  std::optional<Observation> shown_;  // may mix experiments while one runs
  std::array<std::shared_ptr<const Origin>, kParts> origins_;
  bool own_started_ = false;                              // a part of the wanted experiment came
  mutable std::shared_ptr<const Observation> published_;  // shown_ as a snapshot holds it; empty: changed since
};

}  // namespace attnscope::session
