#include "session/complete.h"

namespace attnscope::session {

std::optional<Failure> lack_of(const Observation& observation, bool watched, const std::string& worker) {
  if (observation.failure) return std::nullopt;
  std::string lacks;
  const auto need = [&](bool there, const char* part) {
    if (!there) lacks += (lacks.empty() ? "" : ", ") + std::string(part);
  };
  need(observation.timing.has_value(), "time");
  need(observation.verdict.has_value(), "verdict");
  need(!watched || observation.watch.has_value(), "watch");
  if (lacks.empty()) return std::nullopt;
  return Failure{Stage::protocol, "worker " + worker + " ended the run without its " + lacks,
                 "The log has what it sent that could not be read. Its attnscope may be of another version."};
}

Observation blank_observation(const Experiment& experiment, const std::string& hash) {
  Observation observation;
  observation.experiment = experiment;
  observation.hash = hash;
  observation.device = experiment.device;
  return observation;
}

}  // namespace attnscope::session
