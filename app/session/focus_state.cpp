#include "session/focus_state.h"

#include "session/complete.h"
#include "session/naming.h"

namespace attnscope::session {
namespace {

// Calls visit(part, member) for each Part.
template <class Visit>
void each_part(Visit visit) {
  visit(static_cast<int>(Part::variant), &Observation::variant);
  visit(static_cast<int>(Part::occupancy), &Observation::occupancy);
  visit(static_cast<int>(Part::counters), &Observation::counters);
  visit(static_cast<int>(Part::verdict), &Observation::verdict);
  visit(static_cast<int>(Part::timing), &Observation::timing);
}

}  // namespace

void FocusState::set_wanted(Experiment experiment, Shared<Kernel> kernel, std::string change) {
  job_ = 0;
  view_.wanted = std::move(experiment);
  view_.change = std::move(change);
  view_.same_code_as.clear();
  set_watch(WatchState::none);
  kernel_ = std::move(kernel);
}

void FocusState::name_origins() {
  const auto& timed = origins_[static_cast<int>(Part::timing)];
  view_.run = timed ? timed->run : 0;
  for (int part = 0; part < kParts; ++part) {
    const bool named = view_.parts[part] != PartState::none && view_.parts[part] != PartState::failed && origins_[part];
    view_.part_hash[part] = named ? origins_[part]->hash : "";
    view_.part_from[part] =
        view_.parts[part] == PartState::kept && origins_[part]
            ? difference_text(origins_[part]->experiment, view_.wanted, origins_[part]->kernel.get())
            : "";
  }
}

void FocusState::want(Experiment experiment, Shared<Kernel> kernel, std::string change) {
  set_wanted(std::move(experiment), std::move(kernel), std::move(change));
  view_.running = true;
  restart();
}

void FocusState::refuse(Experiment experiment, Shared<Kernel> kernel, std::string change, Failure failure) {
  want(std::move(experiment), std::move(kernel), std::move(change));
  view_.running = false;
  view_.failure = std::move(failure);
}

void FocusState::show(Shared<Observation> observation, Shared<Kernel> kernel, std::string change, uint64_t run) {
  set_wanted(observation->experiment, std::move(kernel), std::move(change));
  own_ = *observation;
  view_.wanted_hash = own_.hash;
  own_started_ = true;
  if (own_.watch) set_watch(WatchState::done);
  for (int part = 0; part < kParts; ++part) view_.parts[part] = PartState::fresh;
  finish(observation->failure);
  published_ = std::move(observation);
  set_run(run);
}

void FocusState::set_run(uint64_t run) {
  origins_.fill(share(Origin{view_.wanted, view_.wanted_hash, kernel_, run}));
  name_origins();
}

void FocusState::progress(std::string stage, int64_t done, int64_t total) {
  if (!view_.running) return;
  view_.stage = std::move(stage);
  view_.progress = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
}

void FocusState::apply(const protocol::Part& given) {
  apply_part(own_, given);
  own_.device = view_.wanted.device;  // a named worker uses its own device ids, without its name
  if (!shown_) shown_.emplace();
  if (!own_started_) shown_->findings.clear(), shown_->printed.reset();
  own_started_ = true;
  apply_part(*shown_, given);
  shown_->experiment = own_.experiment;
  shown_->hash = own_.hash;
  shown_->versions = own_.versions;
  shown_->device = own_.device;
  const auto origin = share(Origin{view_.wanted, view_.wanted_hash, kernel_, 0});
  each_part([&](int part, auto member) {
    if (!has(given, member)) return;
    origins_[part] = origin;
    view_.parts[part] = !(own_.*member) ? PartState::none : given.final ? PartState::fresh : PartState::partial;
  });
  // Usually empty: this clears the launches of a program shown before.
  if (has(given, &Observation::variant)) shown_->launches = own_.launches;
  if (has(given, &Observation::timing)) shown_->tflops = own_.tflops;
  if (has(given, &Observation::verdict)) shown_->watch = own_.watch;  // verdict and watch form one headline
  shown_->failure = view_.failure = own_.failure;
  name_origins();
  published_.reset();
}

void FocusState::set_watch(WatchState state, double progress, std::optional<Failure> failure) {
  view_.watch = state;
  view_.watch_progress = progress;
  view_.watch_failure = std::move(failure);
}

void FocusState::amend(Shared<Observation> observation) {
  if (view_.running || observation->hash != view_.wanted_hash) return;
  own_ = *observation;
  shown_ = own_;
  published_ = std::move(observation);
}

void FocusState::restart() {
  own_ = blank_observation(view_.wanted);
  view_.wanted_hash = own_.hash;
  own_started_ = false;
  view_.failure.reset();
  progress("", 0, 0);
  each_part([&](int part, auto member) {
    view_.parts[part] = shown_ && (*shown_).*member ? PartState::kept : PartState::none;
  });
  name_origins();
}

Shared<Observation> FocusState::finish(std::optional<Failure> failure) {
  job_ = 0;
  if (failure) own_.failure = std::move(failure);
  const bool failed = own_.failure.has_value();
  each_part([&](int part, auto member) {
    const bool arrived = (own_.*member).has_value();
    if (failed && (!arrived || view_.parts[part] == PartState::partial))
      view_.parts[part] = PartState::failed;
    else
      view_.parts[part] = arrived ? PartState::fresh : PartState::none;
  });
  shown_ = own_;
  progress("", 0, 0);
  view_.running = false;
  view_.failure = own_.failure;
  set_run(0);
  published_ = share(own_);
  return published_;
}

Focus FocusState::view() const {
  Focus focus = view_;
  if (!published_ && shown_) published_ = share(*shown_);
  focus.shown = published_;
  return focus;
}

}  // namespace attnscope::session
