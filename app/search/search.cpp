#include "search/search.h"

#include <algorithm>

namespace attnscope::search {

std::vector<size_t> Search::next() {
  if (is_spent()) return {};
  std::vector<size_t> points = strategy_->propose(history_);
  if (budget_ > 0) points.resize(std::min(points.size(), budget_ - history_.outcomes().size()));
  return points;
}

std::vector<size_t> Search::to_model() { return is_spent() ? std::vector<size_t>{} : strategy_->to_model(); }

}  // namespace attnscope::search
