// The watch of a run in focus: in the background, once for each config, stored with its observation.
#include "session/core.h"

namespace attnscope::session {
namespace {

constexpr uint64_t kRestMs = 400;  // ms from a run to its watch, so that turning a knob does not wait for a watch

}  // namespace

Shared<Observation> SessionCore::with_known_watch(Shared<Observation> observation) {
  if (observation->watch || observation->failure) return observation;
  auto known = watch_.known(observation->experiment);
  if (!known && options_.watch_configs && results_) {
    auto kept = results_->newest(observation->hash);  // from an earlier session
    notices_.toast(results_->take_trouble());
    if (kept && *kept && (*kept)->observation.watch) {
      known = share((*kept)->observation);
      watch_.remember(observation->experiment, known);
    }
  }
  if (!known) return observation;
  auto with = with_watch_of(*observation, *known);
  focus_.amend(observation, with);
  focus_.set_watch(WatchState::done, 1);
  return with;
}

void SessionCore::watch_later(Shared<Observation> observation) {
  watch_.wait(std::move(observation));
  focus_.set_watch(WatchState::waiting);
  watch_timer_.start(kRestMs);
}

// A person requests the watch: it starts at once, even if the config was watched before.
void SessionCore::watch() {
  const auto shown = focus_.view().shown;
  if (focus_.running() || !shown || shown->hash != focus_.wanted_hash() || shown->failure || watch_.running()) return;
  watch_.wait(shown);
  start_watch();
}

void SessionCore::start_watch() {
  watch_timer_.stop();
  const auto observation = watch_.take();
  if (!observation || shutting_down_ || observation->hash != focus_.wanted_hash()) return;
  changed();
  const Experiment& experiment = observation->experiment;
  DeviceTable::Place place;
  if (devices_.find(experiment.device, place) != DeviceTable::Answer::here)
    return focus_.set_watch(WatchState::failed, 0, Failure{Stage::device, devices_.missing(experiment.device), ""});
  const JobId id = next_id_++;
  watch_.started(id, observation);
  focus_.set_watch(WatchState::waiting);
  submit(id, {Lane::background, experiment, observation->hash, place.worker, place.local_id});
}

void SessionCore::finish_watch(std::optional<Failure> failure) {
  changed();
  const auto after = watch_.finish(std::move(failure));
  if (!after) {
    const bool cancelled = after.error().stage == Stage::cancelled;
    if (cancelled) return focus_.set_watch(WatchState::none);
    notices_.log(LogLevel::warning, "not watched: " + after.error().message);
    return focus_.set_watch(WatchState::failed, 0, after.error());
  }
  // The observation with its watch replaces the one without it everywhere, and is stored.
  const Shared<Observation>& before = watch_.before();
  focus_.amend(before, *after);
  history_.amend(before, *after);
  if (snapshot_.selected && snapshot_.selected->observation == before) snapshot_.selected->observation = *after;
  keep_result(**after);
  focus_.set_watch(WatchState::done, 1);
}

}  // namespace attnscope::session
