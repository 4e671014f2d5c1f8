#pragma once
#include <vector>

#include "charts/finding_rows.h"
#include "core/observation.h"

namespace attnscope::charts {

// What was found of one run and not of another one. Two findings are alike if their rules are, and, where both runs ran
// one source, their lines. What a watch finds counts only if both runs were watched.

// True if the run has a finding like this one of another run.
bool has_like(const Observation& run, const Finding& finding, const Observation& other);
// finding_rows(b), with A's figures beside the evidence where each run has one finding like the other's. Modelled and
// measured figures stand there only if the two times can be compared. `a` null: there is no A.
std::vector<FindingRow> finding_rows_beside(const Observation& b, const Observation* a);
// For each of all_findings(b): whether A does not have it. `a` null: there is no A.
std::vector<bool> since_a(const Observation& b, const Observation* a);
// The findings of A that B does not have, but for those that only say where the time goes.
std::vector<const Finding*> gone_since(const Observation& a, const Observation& b);

}  // namespace attnscope::charts
