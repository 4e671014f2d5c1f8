// The watch of what ran in focus: in the background, once for each config, kept with its observation.
#include "session/core.h"

namespace attnscope::session {
namespace {

constexpr uint64_t kRestMs = 400;  // after a run, before its watch: a knob that is being turned does not wait for one

}  // namespace

std::shared_ptr<const Observation> SessionCore::with_known_watch(std::shared_ptr<const Observation> observation) {
  if (observation->watch || observation->failure) return observation;
  auto known = watch_.known(observation->experiment);
  if (!known && options_.watch_configs && results_) {
    std::optional<Failure> trouble;
    auto kept = results_->newest(observation->hash, trouble);  // of an earlier session
    if (trouble) notices_.toast(*trouble);
    if (kept && *kept && (*kept)->observation.watch) {
      known = std::make_shared<const Observation>((*kept)->observation);
      watch_.remember(observation->experiment, known);
    }
  }
  if (!known) return observation;
  auto with = with_watch_of(*observation, *known);
  focus_.amend(with);
  focus_.set_watch(WatchState::done, 1);
  return with;
}

void SessionCore::watch_later(std::shared_ptr<const Observation> observation) {
  watch_.wait(std::move(observation));
  focus_.set_watch(WatchState::waiting);
  watch_timer_.stop();
  watch_timer_.start(kRestMs);
}

// A person asks for it: at once, and again even if it was watched before.
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
  DeviceTable::Place place;
  if (devices_.find(observation->experiment.device, place) != DeviceTable::Answer::here) {
    focus_.set_watch(WatchState::failed, 0,
                     Failure{Stage::device, devices_.missing(observation->experiment.device), ""});
    return changed();
  }
  place.spec = nullptr;
  Job job;
  job.lane = Lane::background;
  job.experiment = observation->experiment;
  job.hash = observation->hash;
  job.kernel = focus_.kernel();
  job.place = place;
  job.watched = observation;
  const JobId id = next_id_++;
  jobs_.emplace(id, std::move(job));
  watch_.started(id);
  focus_.set_watch(WatchState::waiting);
  carry_out(place.worker, workers_[place.worker].lanes.background(id));
  changed();
}

void SessionCore::drop_watch() {
  watch_timer_.stop();
  watch_.drop();
  for (size_t worker = 0; worker < workers_.size(); ++worker)
    carry_out(worker, workers_[worker].lanes.drop_background());
}

void SessionCore::finish_watch(Job& job, std::optional<Failure> failure) {
  const auto after = watch_.finish(*job.watched, job.own, std::move(failure));
  if (!after) {
    const bool cancelled = after.error().stage == Stage::cancelled;
    if (!cancelled) notices_.log(LogLevel::warning, "not watched: " + after.error().message);
    focus_.set_watch(cancelled ? WatchState::none : WatchState::failed, 0,
                     cancelled ? std::nullopt : std::optional(after.error()));
    return changed();
  }
  amend(job.watched, *after);
  focus_.set_watch(WatchState::done, 1);
  changed();
}

// The observation with its watch takes the place of the one without wherever it is shown, and is kept.
void SessionCore::amend(const std::shared_ptr<const Observation>& before,
                        const std::shared_ptr<const Observation>& after) {
  focus_.amend(after);
  history_.amend(before, after);
  undo_.amend(before, after);
  if (selected_ && selected_->observation == before) selected_->observation = after;
  keep_result(*after);
}

}  // namespace attnscope::session
