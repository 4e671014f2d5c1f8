// Requests for an experiment's code and their answers.
#include "session/core.h"

namespace attnscope::session {

void SessionCore::request_code(const Experiment& experiment, std::optional<int64_t> step) {
  Job job;
  job.step = step;
  ask_for_code(experiment, listing_key(hash_of(experiment), step), std::move(job));
}

void SessionCore::request_softmax(const Experiment& experiment, const SoftmaxRow& row) {
  Job job;
  job.softmax = row;
  ask_for_code(experiment, listing_key(hash_of(experiment), row), std::move(job));
}

void SessionCore::request_timeline(const Experiment& experiment, const TimelineAsk& ask) {
  Job job;
  job.timeline = ask;
  ask_for_code(experiment, listing_key(hash_of(experiment), ask), std::move(job));
}

void SessionCore::ask_for_code(const Experiment& experiment, const std::string& hash, Job job) {
  if (!listings_.ask(hash)) return;
  DeviceTable::Place place;
  if (!shelf_.content(experiment.kernel_hash))
    return end_code(hash, Failure{Stage::input, experiment.kernel + " was edited since that run, so its code is gone",
                                  "Run it again."});
  if (devices_.find(experiment.device, place) != DeviceTable::Answer::here)
    return end_code(hash, Failure{Stage::device, devices_.missing(experiment.device), "Run it on another device."});
  job.lane = Lane::view;
  job.experiment = experiment;
  job.hash = hash;
  job.worker = place.worker;
  job.device = place.local_id;
  job.code = true;
  submit(next_id_++, std::move(job));
}

void SessionCore::send_code(JobId id, const Job& job) {
  Experiment experiment = job.experiment;
  experiment.device = job.device;
  workers_[job.worker].link->send(
      protocol::Code{id, std::move(experiment), options_.deadlines, job.step, job.softmax, job.timeline});
}

void SessionCore::take(size_t, protocol::ListingMessage& message) {
  const auto job = jobs_.find(message.id);
  if (job == jobs_.end() || !job->second.code) return;
  // The worker's hash is another one, because it uses its own device id.
  message.listing.experiment_hash = job->second.hash;
  listings_.add(std::move(message.listing));
  changed();
}

void SessionCore::end_code(const std::string& hash, std::optional<Failure> failure) {
  listings_.over(hash);
  if (failure && failure->stage != Stage::cancelled) {
    notices_.log(LogLevel::info, "no listing: " + failure->message);
    listings_.refuse(hash, std::move(*failure));
  }
  changed();
}

}  // namespace attnscope::session
