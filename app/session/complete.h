#pragma once
#include <optional>
#include <string>

#include "core/observation.h"

namespace attnscope::session {

// Checks that a run that ended without a failure has a time (or, of a profiling worker, hardware counters) and a
// verdict, and a watch if one was requested. A worker
// that ends a run without them causes a Failure (Stage::protocol): such a run must not count as correct.
std::optional<Failure> lack_of(const Observation& observation, bool watched, const std::string& worker);

// What is known about an experiment before it runs.
Observation blank_observation(const Experiment& experiment);

}  // namespace attnscope::session
