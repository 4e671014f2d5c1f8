#include "session/watch_lane.h"

namespace attnscope::session {
namespace {

std::string key_of(Experiment experiment) {
  experiment.measure = MeasurePolicy{};
  return hash_of(experiment);
}

}  // namespace

void WatchLane::drop() {
  waiting_.reset();
  job_ = 0;
}

std::shared_ptr<const Observation> WatchLane::known(const Experiment& experiment) const {
  const auto found = watched_.find(key_of(experiment));
  return found == watched_.end() ? nullptr : found->second;
}

void WatchLane::remember(const Experiment& experiment, std::shared_ptr<const Observation> watched) {
  if (watched_.size() >= kMostRemembered) watched_.clear();
  watched_.insert_or_assign(key_of(experiment), std::move(watched));
}

Result<std::shared_ptr<const Observation>> WatchLane::finish(const Observation& before, const Observation& watched,
                                                             std::optional<Failure> failure) {
  job_ = 0;
  if (failure) return fail(std::move(*failure));
  if (!watched.watch) return fail(Stage::internal, "the watch came to no report", "Report this.");
  auto after = with_watch_of(before, watched);
  remember(before.experiment, after);
  return after;
}

std::shared_ptr<const Observation> with_watch_of(const Observation& to, const Observation& watched) {
  auto with = std::make_shared<Observation>(to);
  with->watch = watched.watch;
  if (with->counters) return with;
  with->counters = watched.counters;
  if (with->timing && watched.timing) with->timing->bound = watched.timing->bound;
  return with;
}

}  // namespace attnscope::session
