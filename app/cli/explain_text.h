#pragma once
#include <string>
#include <vector>

#include "charts/finding_rows.h"
#include "core/kernel.h"
#include "core/observation.h"

namespace attnscope::cli {

// An observation's findings by group, ranked: each with its gain, its evidence, its line and the next command. A group
// shows its first `most` and names the others. With another observation: also the terms of both, side by side.
std::string explanation_of(const Observation& observation, const Kernel& kernel, const Observation* against = nullptr,
                           size_t most = charts::FindingsOfGroup::kFew);

// All of these findings, which do not come from a run.
std::string text_of(const std::vector<Finding>& findings);

}  // namespace attnscope::cli
