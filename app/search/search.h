#pragma once
#include <memory>

#include "search/strategy.h"

namespace attnscope::search {

// Runs a strategy within a budget.
class Search {
 public:
  // Tries at most `budget` points; 0: as many as the strategy wants.
  Search(std::unique_ptr<Strategy> strategy, size_t points, size_t budget, ToldApart told_apart)
      : strategy_(std::move(strategy)), history_(points, std::move(told_apart)), budget_(budget) {}

  // The points to try next; empty: the search is over. Report the outcome of each before the next call.
  std::vector<size_t> next();
  // The points that a model should predict meanwhile.
  std::vector<size_t> to_model();
  void modelled(size_t point, std::optional<double> us) { strategy_->modelled(point, us); }
  void tell(Outcome outcome) { history_.tell(outcome); }
  const History& history() const { return history_; }

 private:
  bool is_spent() const { return budget_ > 0 && history_.outcomes().size() >= budget_; }

  std::unique_ptr<Strategy> strategy_;
  History history_;
  size_t budget_;
};

}  // namespace attnscope::search
