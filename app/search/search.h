#pragma once
#include <memory>

#include "search/strategy.h"

namespace attnscope::search {

// A strategy on its way, within a budget.
class Search {
 public:
  // At most `budget` points are tried; 0: as many as the strategy wants.
  Search(std::unique_ptr<Strategy> strategy, size_t points, size_t budget, ToldApart told_apart)
      : strategy_(std::move(strategy)), history_(points, std::move(told_apart)), budget_(budget) {}

  // The points to try now; empty: it is over. Each must be told before the next call.
  std::vector<size_t> next();
  void tell(Outcome outcome) { history_.tell(outcome); }
  const History& history() const { return history_; }

 private:
  std::unique_ptr<Strategy> strategy_;
  History history_;
  size_t budget_;
};

}  // namespace attnscope::search
