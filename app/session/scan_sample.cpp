#include "session/scan_sample.h"

#include <algorithm>

namespace attnscope::session {

ScanSample::ScanSample(const Problem& problem) {
  if (!problem.is_attention()) return;
  const double flops = 4.0 * static_cast<double>(problem.q_elements()) * static_cast<double>(problem.seq_k);
  if (flops <= kMostFlops && problem.q_elements() <= kMostElements) share_ = std::min(1.0, kFlops / flops);
}

double ScanSample::share_of(size_t point, double asked) const {
  return whole_.contains(point) ? asked : std::min(asked, share_);
}

bool ScanSample::doubts(size_t point, const Observation& run) {
  if (share_ >= 1 || whole_.contains(point) || !run.verdict || !run.counters) return false;
  const Verdict& verdict = *run.verdict;
  const Counters& counters = *run.counters;
  if (counters.emulated_ctas >= counters.total_ctas || verdict.rows_total == 0) return false;
  const bool even = verdict.rows_checked * counters.total_ctas == verdict.rows_total * counters.emulated_ctas;
  if (verdict.state == VerdictState::correct && even) return false;
  whole_.insert(point);
  return true;
}

}  // namespace attnscope::session
