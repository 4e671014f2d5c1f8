#pragma once
#include <cstddef>
#include <vector>

#include "search/places.h"
#include "search/prediction.h"
#include "search/random.h"

namespace attnscope::search {

// A Gaussian process over the places of points (Rasmussen and Williams 2006). The covariance of two values falls with
// the distance of their points; each axis has a length scale. It learns slopes, and effects of axes that add up, from
// fewer values than a forest does, which learns steps better.
//
// The hyperparameters are optimised when it is due(). In between, a value costs one pass over the points that it
// watches, and it predicts only those.
class GaussianProcess {
 public:
  // `places` must outlive it. A fit conditions on at most `most` values, and what is learnt after it comes on top.
  explicit GaussianProcess(const Places& places, size_t most = 1000);

  // True if it should fit again, now that so many values are known.
  bool due(size_t values) const { return values >= due_; }
  // Optimises the hyperparameters for the values of these points, at least one. It then watches `watched`.
  void fit(const std::vector<size_t>& points, const std::vector<double>& values, std::vector<size_t> watched,
           Random& random);
  // Learns the values of these points: those of fit(), with whatever values, and more. fit() must have been called.
  void learn(const std::vector<size_t>& points, const std::vector<double>& values);
  bool watches(size_t point) const { return slots_[point] != kNone; }
  Prediction predict(size_t point) const;  // of one that it watches; learn() must have been called
  // How many values it conditions on: fewer than 2 * most, if it fits whenever it is due().
  size_t rows() const { return rows_.size(); }

  // Cholesky's factor of a covariance matrix, row by row, and a vector of ones, by forward substitution.
  struct Factor {
    std::vector<std::vector<double>> rows;
    std::vector<double> ones;
  };

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Hyperparameters {
    std::vector<double> log_relevances;  // for each axis: of (its extent / its length scale)²
    double log_noise = 0;                // of the noise's variance over the process's
  };
  struct Covariance {
    const Places& places;
    std::vector<double> inverse_squares;  // for each axis: of its length scale, in positions
    double noise = 0;
    double operator()(size_t a, size_t b) const;
    void extend(Factor& factor, const std::vector<size_t>& points, size_t point) const;
  };

  Covariance covariance(const Hyperparameters& hyperparameters) const;
  double log_posterior(const std::vector<size_t>& points, const std::vector<double>& values,
                       const Hyperparameters& hyperparameters) const;
  void optimise(const std::vector<size_t>& points, const std::vector<double>& values, Random& random);
  void append(size_t point);
  void substitute(size_t block);

  const Places& places_;
  size_t most_;
  std::vector<double> extents_;  // the farthest two positions of each axis
  Hyperparameters hyperparameters_;
  Covariance covariance_;
  size_t due_ = 1;
  size_t known_ = 0;                        // values
  std::vector<size_t> rows_, inputs_;       // the values that it conditions on, and their points
  Factor factor_;                           // of the covariances of `inputs_`
  std::vector<size_t> watched_, slots_;     // slots_: for each point its place in `watched_`
  std::vector<std::vector<float>> solved_;  // for each block of watched points: their covariances, substituted, by row
  std::vector<float> variances_, means_;    // posterior, for each watched point: over `variance_`, and beyond `mean_`
  double mean_ = 0, variance_ = 1;
};

}  // namespace attnscope::search
