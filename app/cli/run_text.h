#pragma once
#include <string>

#include "core/observation.h"

namespace attnscope::cli {

// An observation for a person at a terminal: one figure per line, with its kind.
std::string text_of(const Observation& observation, const std::string& config_text);

}  // namespace attnscope::cli
