#pragma once
#include <optional>
#include <string>

#include "core/observation.h"

namespace attnscope {

// The headline of a run with a verdict or a watch; the failure reports what failed after them. Of several errors of the
// watch, the first in the order above, which explains most.
std::optional<Headline> headline_of(const Observation& observation);

// The verdict by itself. Agreement with another kernel is not called correct: whether that one is right is not known.
Headline headline_of(const Verdict& verdict);
// To go after "the output itself".
std::string words_of_output(const Verdict& verdict);

// Wrong, or an error of the watch: the output is not reliable.
bool is_fault(Headline headline);
// An error of the watch, which the verdict does not include.
bool is_of_watch(Headline headline);
// A watch found an error in this run, so that no run of its experiment counts: a run is also stored before its watch,
// or without one.
bool is_racy(const Observation& observation);

// Timed, correct or in agreement with the kernel that the manifest names (its author chose that measure), and nothing
// that a watch found makes the output unreliable: only such a run can win.
bool is_accepted(const Observation& observation);

}  // namespace attnscope
