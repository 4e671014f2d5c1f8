#include "core/headline.h"

#include <algorithm>

namespace attnscope {
bool is_of_watch(Headline headline) { return headline >= Headline::uneven_barrier; }
bool is_fault(Headline headline) { return headline == Headline::wrong || is_of_watch(headline); }

Headline headline_of(const Verdict& verdict) {
  if (verdict.state == VerdictState::wrong) return Headline::wrong;
  if (verdict.state == VerdictState::unchecked) return Headline::unchecked;
  return verdict.against ? Headline::agrees : Headline::correct;
}

std::string words_of_output(const Verdict& verdict) {
  const Headline headline = headline_of(verdict);
  if (!verdict.against || headline == Headline::unchecked) return "is " + std::string(to_string(headline));
  return (headline == Headline::agrees ? "agrees with the kernel " : "differs from the kernel ") + *verdict.against;
}

std::optional<Headline> headline_of(const Observation& observation) {
  std::optional<Headline> headline;
  if (observation.verdict) headline = headline_of(*observation.verdict);
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

bool is_accepted(const Observation& observation) {
  const auto headline = headline_of(observation);
  return !observation.failure && observation.timing && observation.verdict &&
         (headline == Headline::correct || headline == Headline::agrees);
}

}  // namespace attnscope
