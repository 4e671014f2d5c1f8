#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace attnscope::search {

// The result of a point of the grid.
struct Outcome {
  size_t point = 0;
  std::optional<double> us;  // empty: rejected (wrong, racy, unfit, hung)
};

// Returns true if two timed points differ by more than their intervals allow. Empty: unknown, so no two points are told
// apart.
using ToldApart = std::function<bool(size_t a, size_t b)>;

// Every outcome in order, and the accepted best. A faster point replaces it only if its time is at least kGain lower or
// the two are told apart, so that noise does not count as progress.
class History {
 public:
  static constexpr double kGain = 0.03;  // of the accepted best; from the reports

  explicit History(size_t points, ToldApart told_apart = {})
      : told_apart_(std::move(told_apart)), tried_(points, false), rejected_(points, false) {}

  // Adds an outcome. Each point may be added only once.
  void tell(Outcome outcome);

  bool tried(size_t point) const { return tried_.at(point); }
  bool rejected(size_t point) const { return rejected_.at(point); }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  // The accepted best among the outcomes from `first` on, ignoring earlier ones.
  std::optional<size_t> best(size_t first = 0) const;
  // At most `most` timed points among the outcomes from `first` on, fastest first.
  std::vector<size_t> fastest(size_t most, size_t first = 0) const;

 private:
  bool replaces(const Outcome& later, const Outcome* best) const;

  ToldApart told_apart_;
  std::vector<bool> tried_, rejected_;  // for each point
  std::vector<Outcome> outcomes_;
  std::optional<size_t> best_;  // over all outcomes, as an index into outcomes_
};

}  // namespace attnscope::search
