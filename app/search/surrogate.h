#pragma once
#include <cstddef>
#include <vector>

#include "search/forest.h"
#include "search/grid.h"
#include "search/history.h"
#include "search/random.h"

namespace attnscope::search {

// Expects times of points that did not run, from those that did: a forest learns them over the grid. With a model's
// prediction for each point a second forest learns how far the times are from the predictions, so that a model that is
// wrong about one knob is put right after a few runs. The more has run, the more the first one counts. How much the
// predictions count in the second one follows from how well they have agreed with the times so far.
class Surrogate {
 public:
  // `renewed`: once many points have run, only so many trees of each forest learn at a time; 0: all of them do.
  explicit Surrogate(const Grid& grid, size_t renewed = 0);

  // The logarithms of a model's times, for each point; empty: there is no model.
  void predict_from(std::vector<double> logs);
  // Learns all outcomes, of which at least one has a time.
  void learn(const History& history, Random& random);
  // The points without duplicates, those first that are expected to be fast or of which little is known.
  std::vector<size_t> ranked(std::vector<size_t> points) const;

 private:
  std::vector<size_t> with_level(size_t point) const;
  double expected(size_t point) const;  // less what is unknown; the logarithm of a time
  void teach(Forest& forest, const std::vector<uint32_t>& positions, size_t axes, const std::vector<double>& values,
             Random& random) const;

  const Grid& grid_;
  size_t renewed_;
  Forest times_, gaps_;
  std::vector<double> predicted_;
  std::vector<size_t> levels_;  // of the predictions, an axis more for the gaps
  double trust_ = 0;            // in the predictions: 0 to 1
  double own_ = 1;              // how much the forest of the times counts: 0 to 1
};

}  // namespace attnscope::search
