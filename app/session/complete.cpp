#include "session/complete.h"

#include "core/joined.h"

namespace attnscope::session {

std::optional<Failure> lack_of(const Observation& observation, bool watched, const std::string& worker) {
  if (observation.failure) return std::nullopt;
  std::vector<std::string> lacks;
  if (!observation.timing && !observation.hardware) lacks.push_back("time");  // a profiling worker times nothing
  if (!observation.verdict) lacks.push_back("verdict");
  if (watched && !observation.watch) lacks.push_back("watch");
  if (lacks.empty()) return std::nullopt;
  return Failure{Stage::protocol, "worker " + worker + " ended the run without its " + joined(lacks),
                 "The log has what it sent that could not be read. Its attnscope may be of another version."};
}

Observation blank_observation(const Experiment& experiment) {
  Observation observation;
  observation.experiment = experiment;
  observation.hash = hash_of(experiment);
  observation.device = experiment.device;
  return observation;
}

}  // namespace attnscope::session
