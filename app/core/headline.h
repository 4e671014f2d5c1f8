#pragma once
#include <optional>
#include <string>

#include "core/observation.h"

namespace attnscope {

// The headline of a run that has a verdict or a watch. Of several errors of the watch it gives the first in the order
// above, which explains most. A failure after them is reported separately.
std::optional<Headline> headline_of(const Observation& observation);

// The headline of a verdict without a watch. Agreement with another kernel is not called correct, because that kernel
// may be wrong.
Headline headline_of(const Verdict& verdict);
// Text that continues "the output itself".
std::string words_of_output(const Verdict& verdict);

// True if the output is not reliable: it is wrong, or the watch found an error.
bool is_fault(Headline headline);
// True for errors of the watch, which the verdict does not include.
bool is_of_watch(Headline headline);
// True if a watch found an error in this run. Then no run of its experiment counts, because runs are also stored before
// their watch or without one.
bool is_racy(const Observation& observation);

// Only such a run can win: it is timed, it is correct or agrees with the kernel that its manifest names (the author
// chose that measure), and no watch found an error.
bool is_accepted(const Observation& observation);

}  // namespace attnscope
