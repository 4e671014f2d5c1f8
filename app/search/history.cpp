#include "search/history.h"

#include <algorithm>

namespace attnscope::search {

bool History::replaces(const Outcome& later, const Outcome* best) const {
  if (!later.us) return false;
  return best == nullptr || *later.us <= (1 - kGain) * *best->us ||
         (*later.us < *best->us && told_apart_ && told_apart_(later.point, best->point));
}

void History::tell(Outcome outcome) {
  tried_.at(outcome.point) = true;
  rejected_[outcome.point] = !outcome.us;
  outcomes_.push_back(outcome);
  if (replaces(outcome, best_ ? &outcomes_[*best_] : nullptr)) best_ = outcomes_.size() - 1;
}

std::optional<size_t> History::best(size_t first) const {
  if (first == 0) return best_ ? std::optional(outcomes_[*best_].point) : std::nullopt;
  const Outcome* best = nullptr;
  for (size_t at = first; at < outcomes_.size(); ++at)
    if (replaces(outcomes_[at], best)) best = &outcomes_[at];
  return best != nullptr ? std::optional(best->point) : std::nullopt;
}

std::vector<size_t> History::fastest(size_t most, size_t first) const {
  std::vector<Outcome> timed;
  for (size_t at = first; at < outcomes_.size(); ++at)
    if (outcomes_[at].us) timed.push_back(outcomes_[at]);
  std::ranges::stable_sort(timed, {}, [](const Outcome& one) { return *one.us; });
  timed.resize(std::min(timed.size(), most));
  std::vector<size_t> points;
  for (const Outcome& one : timed) points.push_back(one.point);
  return points;
}

}  // namespace attnscope::search
