#pragma once
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/observation.h"

namespace attnscope::cli {

// An observation's findings, ranked: each with its gain, its evidence, its line and the next command. With another
// observation: also the terms of both, side by side.
std::string explanation_of(const Observation& observation, const Kernel& kernel, const Observation* against = nullptr);

// The same for findings that do not come from a run.
std::string text_of(const std::vector<Finding>& findings);

}  // namespace attnscope::cli
