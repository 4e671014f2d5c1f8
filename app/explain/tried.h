#pragma once
#include <vector>

#include "core/observation.h"

namespace attnscope::explain {

// Completes the findings of `base` from runs of its neighbours (one knob changed, same device and problem):
// - A finding's `next` becomes the fastest neighbour in which the same rule finds nothing or clearly less, if it is
//   faster, correct and comparable; gain.tried is what it saves. Otherwise the finding proposes nothing.
// - A neighbour with the same machine code becomes a finding of its own.
// Ranks the findings again.
void take_tried(Observation& base, const std::vector<Observation>& tried);

// Findings from two observations together, A before B: the same machine code, the terms that changed most, and whether
// their times can be told apart.
std::vector<Finding> changes(const Observation& a, const Observation& b);
// Adds them to the findings of B, before the others: who compares two runs asks for their difference first.
void put_changes_first(const Observation& a, Observation& b);

}  // namespace attnscope::explain
