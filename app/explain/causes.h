#pragma once
#include <vector>

#include "explain/facts.h"

namespace attnscope::explain {

// Where one finding causes another of the same run, Finding::where["because"] of the other is its rule, and the
// sentence says how.
void link_causes(const Facts& facts, std::vector<Finding>& findings);

}  // namespace attnscope::explain
