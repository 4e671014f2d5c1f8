#pragma once
#include <optional>

#include "core/observation.h"

namespace attnscope {

// The headline of a run with a verdict or a watch; the failure reports what failed after them. Of several errors of the
// watch, the first in the order above, which explains most.
std::optional<Headline> headline_of(const Observation& observation);

// Wrong, or an error of the watch: the output is not reliable.
bool is_fault(Headline headline);
// An error of the watch, which the verdict does not include.
bool is_of_watch(Headline headline);

}  // namespace attnscope
