#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace attnscope::search {

// What came of a point of the grid.
struct Outcome {
  size_t point = 0;
  std::optional<double> us;  // empty: rejected (wrong, racy, unfit, hung)
};

// Whether two timed points differ by more than their intervals allow. Empty: not known, so nothing is told apart.
using ToldApart = std::function<bool(size_t a, size_t b)>;

// Every outcome in order, and the accepted best. A faster point replaces it only if its time is at least kGain lower or
// the two are told apart, so that noise is no progress.
class History {
 public:
  static constexpr double kGain = 0.03;  // of the accepted best: the reports' rule

  explicit History(size_t points, ToldApart told_apart = {})
      : told_apart_(std::move(told_apart)), tried_(points, false), rejected_(points, false) {}

  // Each point once.
  void tell(Outcome outcome);

  bool tried(size_t point) const { return tried_.at(point); }
  bool rejected(size_t point) const { return rejected_.at(point); }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  // The accepted point of the outcomes from `first` on, as if those were all.
  std::optional<size_t> best(size_t first = 0) const;
  // Timed points of the outcomes from `first` on, the fastest first.
  std::vector<size_t> fastest(size_t most, size_t first = 0) const;

 private:
  bool replaces(const Outcome& later, const Outcome* best) const;

  ToldApart told_apart_;
  std::vector<bool> tried_, rejected_;  // of each point
  std::vector<Outcome> outcomes_;
  std::optional<size_t> best_;  // of all, an index into outcomes_
};

}  // namespace attnscope::search
