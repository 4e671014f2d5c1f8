#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "search/forest.h"
#include "search/gaussian_process.h"
#include "search/grid.h"
#include "search/history.h"
#include "search/places.h"
#include "search/random.h"

namespace attnscope::search {

// Expects times of points that did not run, from those that did: a forest learns them over the grid, and so does a
// Gaussian process. With a model's prediction for each point a second forest learns how far the times are from the
// predictions, and the process does too, so that a model that is wrong about one knob is put right after a few runs.
// The more has run, the more the forest of the times counts beside that of the gaps. How much the predictions count
// follows from how well they have agreed with the times so far.
class Surrogate {
 public:
  // `grid` must outlive it. `renewed`: once many points have run, only so many trees of each forest learn at a time; 0:
  // all of them do.
  explicit Surrogate(const Grid& grid, size_t renewed = 0);
  Surrogate(const Surrogate&) = delete;  // its learners refer to its places
  Surrogate& operator=(const Surrogate&) = delete;

  const Places& places() const { return places_; }
  // The logarithms of a model's times, for each point; empty: there is no model.
  void predict_from(std::vector<double> logs);
  // Learns all outcomes, of which at least one has a time.
  void learn(const History& history, Random& random);
  // At most `most` of the points, without duplicates, the best first: by the forests those that are expected to be fast
  // or of which little is known, by the process those that are expected to gain most on the fastest so far. It knows
  // only the points that it watches.
  std::vector<size_t> by_forests(std::vector<size_t> points, size_t most) const;
  std::vector<size_t> by_process(std::vector<size_t> points, size_t most) const;
  // Both in turn, at most `most` in all. One call begins with the process, the next with the forests.
  std::vector<size_t> in_turn(const std::vector<size_t>& points, size_t most);

 private:
  double expected_by_forests(size_t point) const;  // a time's logarithm, minus the uncertainty
  double gain_by_process(size_t point) const;
  double guide(size_t point) const;  // what the predictions say
  void teach(Forest& forest, bool moved, const std::vector<size_t>& points, const std::vector<double>& values,
             Random& random) const;
  std::vector<size_t> worth_watching(const History& history, Random& random) const;

  // How far the times are from a model's predictions. The forest refers to the places, which must come first.
  struct Gaps {
    explicit Gaps(const Grid& grid);
    Gaps(const Gaps&) = delete;
    Gaps& operator=(const Gaps&) = delete;
    Places places;  // with one more axis, the predictions' levels
    Forest forest;
    bool moved = false;  // the levels have changed since the forest read them
  };

  const Grid& grid_;
  size_t renewed_;
  Places places_;  // before the learners, which refer to it
  Forest times_;
  std::optional<Gaps> gaps_;  // if there is a model
  GaussianProcess process_;
  std::vector<double> predicted_;
  double least_ = 0;  // of what it has learnt
  double trust_ = 0;  // in the predictions: 0 to 1
  bool forests_first_ = false;
  double own_ = 1;  // how much the forest of the times counts: 0 to 1
};

}  // namespace attnscope::search
