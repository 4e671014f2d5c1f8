// The watch of what ran in focus: in the background, once for each config, kept with its observation. Of a GPU's kernel
// it brings counters too.
#include <algorithm>

#include "platform/clock.h"
#include "session/core.h"

namespace attnscope::session {
namespace {

constexpr uint64_t kRestMs = 400;  // after a run, before its watch: a knob that is being turned does not wait for one
constexpr size_t kMostRemembered = 512;

// What a watch depends on: all of the experiment but how it is measured.
std::string watch_key(Experiment experiment) {
  experiment.measure = MeasurePolicy{};
  return hash_of(experiment);
}

// `to` with what a watch found out about the same kernel.
std::shared_ptr<const Observation> with_watch_of(const Observation& to, const Observation& watched) {
  auto with = std::make_shared<Observation>(to);
  with->watch = watched.watch;
  if (with->counters) return with;
  with->counters = watched.counters;
  if (with->timing && watched.timing) with->timing->bound = watched.timing->bound;
  return with;
}

}  // namespace

std::shared_ptr<const Observation> SessionCore::with_known_watch(std::shared_ptr<const Observation> observation) {
  if (observation->watch || observation->failure) return observation;
  const std::string key = watch_key(observation->experiment);
  auto known = watched_.find(key);
  if (known == watched_.end() && options_.watch_configs && results_) {
    std::optional<Failure> trouble;
    auto kept = results_->newest(observation->hash, trouble);  // of an earlier session
    if (trouble) notices_.toast(*trouble);
    if (kept && *kept && (*kept)->observation.watch)
      known = watched_.emplace(key, std::make_shared<const Observation>((*kept)->observation)).first;
  }
  if (known == watched_.end()) return observation;
  auto with = with_watch_of(*observation, *known->second);
  focus_.amend(with);
  focus_.set_watch(WatchState::done, 1);
  return with;
}

void SessionCore::watch_later(std::shared_ptr<const Observation> observation) {
  to_watch_ = std::move(observation);
  focus_.set_watch(WatchState::waiting);
  watch_timer_.stop();
  watch_timer_.start(kRestMs);
}

// A person asks for it: at once, and again even if it was watched before.
void SessionCore::watch() {
  const auto shown = focus_.view().shown;
  if (focus_.running() || !shown || shown->hash != focus_.wanted_hash() || shown->failure || watch_job_ != 0) return;
  to_watch_ = shown;
  start_watch();
}

void SessionCore::start_watch() {
  watch_timer_.stop();
  const auto observation = std::exchange(to_watch_, nullptr);
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
  watch_job_ = id;
  focus_.set_watch(WatchState::waiting);
  carry_out(place.worker, workers_[place.worker].lanes.background(id));
  changed();
}

// The config changes: nobody waits for the watch of the one before.
void SessionCore::drop_watch() {
  watch_timer_.stop();
  to_watch_.reset();
  watch_job_ = 0;
  for (size_t worker = 0; worker < workers_.size(); ++worker)
    carry_out(worker, workers_[worker].lanes.drop_background());
}

void SessionCore::finish_watch(Job& job, std::optional<Failure> failure) {
  watch_job_ = 0;
  if (!failure && !job.own.watch) failure = Failure{Stage::internal, "the watch came to no report", "Report this."};
  if (failure) {
    const bool cancelled = failure->stage == Stage::cancelled;
    if (!cancelled) notices_.log(LogLevel::warning, "not watched: " + failure->message);
    focus_.set_watch(cancelled ? WatchState::none : WatchState::failed, 0,
                     cancelled ? std::nullopt : std::move(failure));
    return changed();
  }
  if (watched_.size() >= kMostRemembered) watched_.clear();
  const auto after = with_watch_of(*job.watched, job.own);
  watched_[watch_key(job.experiment)] = after;
  amend(job.watched, after);
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
