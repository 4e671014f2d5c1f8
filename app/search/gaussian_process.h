#pragma once
#include <cstddef>
#include <vector>

#include "search/forest.h"
#include "search/places.h"
#include "search/random.h"

namespace attnscope::search {

// A Gaussian process over the places of points (Rasmussen and Williams 2006): points that are near each other have like
// values, by a length for each axis, with which the values so far are likely. It learns a slope, and axes that add up,
// from fewer values than a forest does; a forest learns steps.
//
// The lengths are found when it is due(). In between a value costs one pass over the points that it watches, which are
// the only ones that it predicts.
class GaussianProcess {
 public:
  // `places` must outlive it.
  explicit GaussianProcess(const Places& places);

  // True if the lengths should be found anew, now that so many values are known.
  bool due(size_t values) const { return values >= due_; }
  // Finds the lengths by the values of these points; at least one. It then watches `watched`.
  void fit(const std::vector<size_t>& points, const std::vector<double>& values, std::vector<size_t> watched,
           Random& random);
  // Learns the values of these points: those of fit(), with whatever values, and more. fit() must have been called.
  void learn(const std::vector<size_t>& points, const std::vector<double>& values);
  bool watches(size_t point) const { return slots_[point] != kNone; }
  Prediction predict(size_t point) const;  // of one that it watches; learn() must have been called

  using Factor = std::vector<std::vector<double>>;  // Cholesky's, row by row

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Shape {
    std::vector<double> steps;  // for each axis the logarithm of (its extent / its length)²
    double noise = 0;           // the logarithm of the noise's variance, as a share of the values'
  };
  // Covariances of a shape.
  struct Likeness {
    const Places& places;
    std::vector<double> per_position;  // for each axis
    double noise = 0;
    double operator()(size_t a, size_t b) const;
    void extend(Factor& factor, const std::vector<size_t>& points, size_t point) const;
  };

  Likeness of(const Shape& shape) const;
  double likelihood(const std::vector<size_t>& points, const std::vector<double>& values, const Shape& shape) const;
  void find_lengths(const std::vector<size_t>& points, const std::vector<double>& values, Random& random);
  void join(size_t point);
  void explain(size_t block);

  const Places& places_;
  std::vector<double> extents_;  // the farthest two positions of each axis
  Shape shape_;
  Likeness likeness_;
  size_t due_ = 1;
  size_t known_ = 0;                           // values
  std::vector<size_t> rows_, learnt_;          // those of them that it has learnt, and their points
  Factor factor_;                              // of the covariances of `learnt_`
  std::vector<size_t> watched_, slots_;        // slots_: for each point its place in `watched_`
  std::vector<std::vector<float>> explained_;  // for each block of the watched points, row by row
  std::vector<float> unknown_, means_;         // for each watched point; unknown_: the share of the variance
  double middle_ = 0, variance_ = 1;
};

}  // namespace attnscope::search
