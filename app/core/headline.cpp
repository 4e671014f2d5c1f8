#include "core/headline.h"

#include <algorithm>

namespace attnscope {
bool is_of_watch(Headline headline) { return headline >= Headline::uneven_barrier; }
bool is_fault(Headline headline) { return headline == Headline::wrong || is_of_watch(headline); }

std::optional<Headline> headline_of(const Observation& observation) {
  std::optional<Headline> headline;
  if (observation.verdict) {
    const VerdictState state = observation.verdict->state;
    // Agreement with another kernel is not called correct: whether that one is right is not known.
    const bool agrees = state == VerdictState::correct && observation.verdict->against;
    headline = state == VerdictState::wrong                ? Headline::wrong
               : state == VerdictState::correct && !agrees ? Headline::correct
                                                           : Headline::unchecked;
  }
  if (!observation.watch || !observation.watch->has_errors()) return headline;
  std::optional<Headline> seen;
  for (const Finding& finding : observation.watch->findings) {
    if (finding.severity != Severity::error) continue;
    const Headline one = finding.rule.headline();
    seen = seen ? std::min(*seen, one) : one;
  }
  return seen;
}

bool is_racy(const Observation& observation) {
  const auto headline = headline_of(observation);
  return headline && is_of_watch(*headline);
}

// Agreement with the kernel that the manifest names is enough to win: its author chose that measure.
bool is_accepted(const Observation& observation) {
  const auto headline = headline_of(observation);
  return !observation.failure && observation.timing && observation.verdict &&
         observation.verdict->state == VerdictState::correct && headline && !is_fault(*headline);
}

}  // namespace attnscope
