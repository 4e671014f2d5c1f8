#include "search/search.h"

#include <algorithm>

namespace attnscope::search {

std::vector<size_t> Search::next() {
  const size_t tried = history_.outcomes().size();
  if (budget_ > 0 && tried >= budget_) return {};
  std::vector<size_t> points = strategy_->propose(history_);
  if (budget_ > 0) points.resize(std::min(points.size(), budget_ - tried));
  return points;
}

}  // namespace attnscope::search
