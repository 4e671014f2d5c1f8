#pragma once
#include <string>

#include "core/observation.h"

namespace attnscope::cli {

// An observation for a person at a terminal: a line a figure, its kind beside it.
std::string text_of(const Observation& observation, const std::string& config_text);

}  // namespace attnscope::cli
