#include "session/watch_lane.h"

namespace attnscope::session {
namespace {

std::string key_of(Experiment experiment) {
  experiment.measure = MeasurePolicy{};
  return hash_of(experiment);
}

}  // namespace

void WatchLane::started(JobId job, Shared<Observation> before) {
  job_ = job;
  before_ = std::move(before);
  restart();
}

void WatchLane::restart() {
  own_ = *before_;  // the watch's results are added to it
  own_.watch.reset();
}

void WatchLane::take_part(const protocol::Part& part) {
  if (running() && is(part.id)) apply_part(own_, part);
}

void WatchLane::drop() {
  waiting_.reset();
  job_ = 0;
}

Shared<Observation> WatchLane::known(const Experiment& experiment) const {
  const auto found = watched_.find(key_of(experiment));
  return found == watched_.end() ? nullptr : found->second;
}

void WatchLane::remember(const Experiment& experiment, Shared<Observation> watched) {
  if (watched_.size() >= kMostRemembered) watched_.clear();
  watched_.insert_or_assign(key_of(experiment), std::move(watched));
}

Result<Shared<Observation>> WatchLane::finish(std::optional<Failure> failure) {
  job_ = 0;
  if (failure) return fail(std::move(*failure));
  if (!own_.watch) return fail(Stage::internal, "the watch ended without a report", "Report this.");
  auto after = with_watch_of(*before_, own_);
  remember(before_->experiment, after);
  return after;
}

Shared<Observation> with_watch_of(const Observation& to, const Observation& watched) {
  auto with = std::make_shared<Observation>(to);
  with->watch = watched.watch;
  if (with->counters) return with;
  with->counters = watched.counters;
  if (!watched.launches.empty()) {  // a program
    with->launches = watched.launches;
    with->variant = watched.variant;
    with->occupancy = watched.occupancy;
  }
  if (with->timing && watched.timing) with->timing->bound = watched.timing->bound;
  return with;
}

}  // namespace attnscope::session
