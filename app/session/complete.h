#pragma once
#include <optional>
#include <string>

#include "core/observation.h"

namespace attnscope::session {

// What a run that ended without a failure must have brought: a time and a verdict, and a watch if one was asked for. A
// worker that ends a run without them is told in a Failure (Stage::protocol): such a run is not to pass for a sound
// one.
std::optional<Failure> lack_of(const Observation& observation, bool watched, const std::string& worker);

// What is known of an experiment before anything came of it.
Observation blank_observation(const Experiment& experiment);

}  // namespace attnscope::session
