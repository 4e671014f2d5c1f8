#include "core/headline.h"

#include <algorithm>

#include "core/words.h"

namespace attnscope {
namespace {

constexpr WordTable<Headline, 9> kHeadlines{{{Headline::correct, "correct"},
                                             {Headline::wrong, "wrong"},
                                             {Headline::unchecked, "unchecked"},
                                             {Headline::uneven_barrier, "uneven barrier"},
                                             {Headline::race, "race"},
                                             {Headline::never_written, "never-written read"},
                                             {Headline::absent_lane, "absent lane"},
                                             {Headline::luck, "right by luck"},
                                             {Headline::fault, "fault"}}};

// The rules of docs/emulator.md, Watches, by what stands before their dot.
constexpr WordTable<Headline, 5> kRules{{{Headline::uneven_barrier, "barrier"},
                                         {Headline::race, "race"},
                                         {Headline::never_written, "never_written"},
                                         {Headline::absent_lane, "shuffle"},
                                         {Headline::luck, "luck"}}};

Headline headline_of_rule(std::string_view rule) {
  const std::string_view family = rule.substr(0, rule.find('.'));
  for (const auto& [headline, word] : kRules)
    if (word == family) return headline;
  return Headline::fault;
}

}  // namespace

std::string_view to_string(Headline headline) { return word_of(kHeadlines, headline); }

bool is_of_watch(Headline headline) { return headline >= Headline::uneven_barrier; }
bool is_fault(Headline headline) { return headline == Headline::wrong || is_of_watch(headline); }

std::optional<Headline> headline_of(const Observation& observation) {
  std::optional<Headline> headline;
  if (observation.verdict) {
    const VerdictState state = observation.verdict->state;
    headline = state == VerdictState::correct ? Headline::correct
               : state == VerdictState::wrong ? Headline::wrong
                                              : Headline::unchecked;
  }
  if (!observation.watch || !observation.watch->has_errors()) return headline;
  std::optional<Headline> seen;
  for (const Finding& finding : observation.watch->findings) {
    if (finding.severity != Severity::error) continue;
    const Headline one = headline_of_rule(finding.rule);
    seen = seen ? std::min(*seen, one) : one;
  }
  return seen;
}

}  // namespace attnscope
