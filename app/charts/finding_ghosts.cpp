#include "charts/finding_ghosts.h"

#include <algorithm>
#include <string>

#include "charts/finding_rows.h"

namespace attnscope::charts {
namespace {

std::string where(const Finding& finding, const char* key) {
  const auto found = finding.where.find(key);
  return found == finding.where.end() ? "" : found->second;
}

// True if the run's watch found it.
bool is_watched(const Observation& run, const Finding& finding) {
  return run.watch && std::ranges::any_of(run.watch->findings, [&](const Finding& one) { return &one == &finding; });
}

}  // namespace

bool has_like(const Observation& run, const Finding& finding, const Observation& other) {
  const bool one_source = run.experiment.kernel_hash == other.experiment.kernel_hash;
  return std::ranges::any_of(all_findings(run), [&](const Finding* one) {
    if (one->rule != finding.rule) return false;
    const auto same = [&](const char* key) { return where(*one, key) == where(finding, key); };
    return !one_source || (same("file") && same("line"));
  });
}

std::vector<bool> since_a(const Observation& b, const Observation* a) {
  std::vector<bool> since;
  for (const Finding* finding : all_findings(b))
    since.push_back(a != nullptr && (a->watch || !is_watched(b, *finding)) && !has_like(*a, *finding, b));
  return since;
}

std::vector<const Finding*> gone_since(const Observation& a, const Observation& b) {
  std::vector<const Finding*> gone = all_findings(a);
  std::erase_if(gone, [&](const Finding* one) {
    return says_where(*one) || (!b.watch && is_watched(a, *one)) || has_like(b, *one, a);
  });
  return gone;
}

std::vector<const Finding*> watch_findings(const WatchReport& report) {
  std::vector<const Finding*> all;
  for (const Finding& finding : report.findings) all.push_back(&finding);
  std::ranges::stable_partition(all, [](const Finding* one) { return one->severity == Severity::error; });
  return all;
}

}  // namespace attnscope::charts
