#include "charts/standing.h"

#include <fmt/format.h>

#include "charts/format.h"

namespace attnscope::charts {

Standing standing_of(const Observation& a, const Observation& b) {
  Standing standing;
  standing.unlike = comparable(a, b);
  if (standing.unlike != Unlike::none) return standing;
  const Timing &x = *a.timing, &y = *b.timing;
  if (x.p50 > 0) standing.ratio = y.p50 / x.p50;
  const bool overlap = x.interval_high >= y.interval_low && y.interval_high >= x.interval_low;
  bool apart = !overlap;
  if (y.kind == FigureKind::modelled) {
    const model::Paired pair = model::paired(a, b);
    apart = pair.told_apart();
    standing.bar = {pair.low, pair.high};
  }
  const bool tie = us_text(x.p50) == us_text(y.p50) || !apart;
  standing.outcome = tie ? Outcome::tie : y.p50 < x.p50 ? Outcome::faster : Outcome::slower;
  return standing;
}

std::string change_text(const Standing& standing) {
  if (standing.outcome == Outcome::not_comparable) return "not comparable";
  const std::string percent = signed_percent_text(standing.ratio - 1);
  if (standing.outcome != Outcome::tie) return percent;
  return standing.ratio == 1 ? "the same" : "a tie (" + percent + ")";
}

std::string verdict_text(const Standing& standing) {
  const std::string_view word = to_string(standing.outcome);
  const std::string percent = signed_percent_text(standing.ratio - 1);
  switch (standing.outcome) {
    case Outcome::faster:
    case Outcome::slower:
      return fmt::format("{}, {}", word, percent);
    case Outcome::tie:
      return standing.ratio == 1 ? std::string(word) : fmt::format("{} ({})", word, percent);
    case Outcome::not_comparable:
      return fmt::format("{}: {}", word, to_string(standing.unlike));
  }
  return {};
}

int better(const Standing& standing) {
  return standing.outcome == Outcome::faster ? 1 : standing.outcome == Outcome::slower ? -1 : 0;
}

bool same_work(const Observation& a, const Observation& b) {
  const Unlike unlike = comparable(a, b);
  return unlike != Unlike::operation && unlike != Unlike::problem && unlike != Unlike::device;
}

}  // namespace attnscope::charts
