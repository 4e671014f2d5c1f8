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
      : told_apart_(std::move(told_apart)), tried_(points, false) {}

  // Each point once.
  void tell(Outcome outcome);

  bool tried(size_t point) const { return tried_.at(point); }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  std::optional<size_t> best() const;              // the accepted point
  std::vector<size_t> fastest(size_t most) const;  // timed points, the fastest first

 private:
  ToldApart told_apart_;
  std::vector<bool> tried_;
  std::vector<Outcome> outcomes_;
  std::optional<size_t> best_;  // index into outcomes_
};

}  // namespace attnscope::search
