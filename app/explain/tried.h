#pragma once
#include <vector>

#include "core/observation.h"

namespace attnscope::explain {

// Fills the findings of `base` with what runs of its neighbours (one knob changed, same device and problem) say:
// - `next` of a finding becomes the fastest neighbour in which the same rule finds nothing or clearly less, if it is
//   faster, correct and comparable, and gain.tried what it saves; otherwise the finding proposes nothing.
// - A neighbour of the same machine code is a finding of its own.
// Ranks the findings again.
void take_tried(Observation& base, const std::vector<Observation>& tried);

// What two observations say together, A before B: the same machine code, the terms that changed most, and whether
// their times can be told apart.
std::vector<Finding> changes(const Observation& a, const Observation& b);

}  // namespace attnscope::explain
