#pragma once
#include <string>

#include "core/observation.h"

namespace attnscope::cli {

// The text of `attnscope counters` for a run: the GPU's own counters beside the emulator's, with their difference, or
// why there are none.
std::string counters_text(const Observation& observation, const std::string& config_text);

}  // namespace attnscope::cli
