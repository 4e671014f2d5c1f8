#pragma once
#include <optional>

#include "core/observation.h"

namespace attnscope {

// Of a run with a verdict or a watch; whatever failed after them is told by the failure. Of several errors of the watch
// the one that explains most: first of the order above.
std::optional<Headline> headline_of(const Observation& observation);

// Wrong, or an error of the watch: the output is not to be relied on.
bool is_fault(Headline headline);
// An error of the watch, which the verdict does not know of.
bool is_of_watch(Headline headline);

}  // namespace attnscope
