#include "charts/finding_ghosts.h"

#include <algorithm>
#include <string>

#include "charts/finding_rows.h"
#include "core/where_of.h"

namespace attnscope::charts {
namespace {

// True if the run's watch found it.
bool is_watched(const Observation& run, const Finding& finding) {
  return run.watch && std::ranges::any_of(run.watch->findings, [&](const Finding& one) { return &one == &finding; });
}

// True if one of them is like the finding. `one_source`: they stand in the same source as it does.
bool any_like(const std::vector<const Finding*>& of, const Finding& finding, bool one_source) {
  return std::ranges::any_of(of, [&](const Finding* one) {
    if (one->rule != finding.rule) return false;
    const auto same = [&](const char* key) { return where_of(*one, key) == where_of(finding, key); };
    return !one_source || (same("file") && same("line"));
  });
}

bool of_one_source(const Observation& one, const Observation& other) {
  return one.experiment.kernel_hash == other.experiment.kernel_hash;
}

}  // namespace

bool has_like(const Observation& run, const Finding& finding, const Observation& other) {
  return any_like(all_findings(run), finding, of_one_source(run, other));
}

std::vector<bool> since_a(const Observation& b, const Observation* a) {
  const std::vector<const Finding*> of_b = all_findings(b);
  std::vector<bool> since(of_b.size(), false);
  if (a == nullptr) return since;
  const std::vector<const Finding*> of_a = all_findings(*a);
  for (size_t i = 0; i < of_b.size(); ++i)
    since[i] = (a->watch || !is_watched(b, *of_b[i])) && !any_like(of_a, *of_b[i], of_one_source(*a, b));
  return since;
}

std::vector<const Finding*> gone_since(const Observation& a, const Observation& b) {
  const std::vector<const Finding*> of_b = all_findings(b);
  std::vector<const Finding*> gone = all_findings(a);
  std::erase_if(gone, [&](const Finding* one) {
    return says_where(*one) || (!b.watch && is_watched(a, *one)) || any_like(of_b, *one, of_one_source(a, b));
  });
  return gone;
}

}  // namespace attnscope::charts
