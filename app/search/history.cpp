#include "search/history.h"

#include <algorithm>

namespace attnscope::search {

void History::tell(Outcome outcome) {
  tried_.at(outcome.point) = true;
  outcomes_.push_back(outcome);
  if (!outcome.us) return;
  const Outcome* best = best_ ? &outcomes_[*best_] : nullptr;
  const bool accepted = best == nullptr || *outcome.us <= (1 - kGain) * *best->us ||
                        (*outcome.us < *best->us && told_apart_ && told_apart_(outcome.point, best->point));
  if (accepted) best_ = outcomes_.size() - 1;
}

std::optional<size_t> History::best() const { return best_ ? std::optional(outcomes_[*best_].point) : std::nullopt; }

std::vector<size_t> History::fastest(size_t most) const {
  std::vector<Outcome> timed;
  std::ranges::copy_if(outcomes_, std::back_inserter(timed), [](const Outcome& one) { return one.us.has_value(); });
  std::ranges::stable_sort(timed, {}, [](const Outcome& one) { return *one.us; });
  timed.resize(std::min(timed.size(), most));
  std::vector<size_t> points;
  for (const Outcome& one : timed) points.push_back(one.point);
  return points;
}

}  // namespace attnscope::search
