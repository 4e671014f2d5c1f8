#include "session/queue_lane.h"

#include "session/complete.h"

namespace attnscope::session {

Observation session_over() {
  Observation observation;
  observation.failure = Failure{Stage::cancelled, "the session ended before this experiment did", ""};
  return observation;
}

void QueueLane::place(JobId job, const Experiment& experiment, bool needs_watch, std::shared_ptr<Answer> answer) {
  placed_.emplace(job, Placed{blank_observation(experiment), needs_watch, std::move(answer)});
}

void QueueLane::restart(JobId job) {
  Observation& own = placed_.at(job).own;
  own = blank_observation(own.experiment);
}

void QueueLane::take_part(const protocol::Part& part) {
  const auto found = placed_.find(part.id);
  if (found == placed_.end()) return;
  Observation& own = found->second.own;
  apply_part(own, part);
  own.device = own.experiment.device;  // a named worker uses its own device ids, without its name
}

QueueLane::Ended QueueLane::finish(JobId job, std::optional<Failure> failure, const std::string& worker,
                                   const Versions& versions) {
  Placed ended = std::move(placed_.extract(job).mapped());
  Observation& own = ended.own;
  if (!failure) failure = lack_of(own, ended.needs_watch, worker);
  if (failure) own.failure = std::move(failure);
  if (own.versions == Versions{}) own.versions = versions;
  return {std::move(own), std::move(ended.answer)};
}

void QueueLane::shut_down() {
  for (auto& [job, placed] : std::exchange(placed_, {})) {
    placed.own.failure = session_over().failure;
    placed.answer->set_value(placed.own);
  }
  for (const Request& held : release()) held.answer->set_value(session_over());
}

}  // namespace attnscope::session
