#pragma once
#include <string>

#include "cli/findings.h"

namespace attnscope::cli {

// A run on one line: "correct, 12.3 us modelled, 2 findings".
std::string summary_of(const Observation& observation, const SourceFile& source);

// The differences between two runs of a kernel that is being edited: the figures of charts/tables.h, and the findings
// that are new or gone. A finding that only moved to another line counts as unchanged. Returns "  nothing changed\n" if
// nothing differs.
std::string changes_of(const Observation& before, const Observation& after, const SourceFile& source);

}  // namespace attnscope::cli
