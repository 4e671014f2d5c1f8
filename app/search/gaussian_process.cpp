#include "search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace attnscope::search {
namespace {

// The prior: the logarithms are normal about these, with the deviation kDeviation.
constexpr double kRelevance = 3, kNoise = 0.01;
constexpr double kDeviation = 1.5;
// Bounds of the hyperparameters. With less noise, or longer scales, the covariance matrix of many equal values is so
// close to singular that substitution in floats is all rounding error.
constexpr double kLeastRelevance = 0.01, kMostRelevance = 1000, kLeastNoise = 1e-4, kMostNoise = 10;

constexpr size_t kFitted = 100;  // values for which the hyperparameters are optimised
constexpr int kTries = 60;       // random steps of the optimisation
constexpr double kStep = 4.5;    // the most that one adds to a logarithm
constexpr double kMore = 1.3;    // it fits again after so many times the values, and kFew,
constexpr size_t kFew = 4;       // or after as many new ones as a fit conditions on
constexpr size_t kBlock = 256;   // watched points

constexpr double kEqual = 1e-6;           // values that differ by less are equal
constexpr double kLeastVariance = 1e-12;  // whose logarithm is taken
constexpr double kLeastSpread = 1e-6;     // of a prediction, so that one may divide by it

double squared(double value) { return value * value; }

double dot(const std::vector<double>& a, const std::vector<double>& b, size_t count) {
  return std::inner_product(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(), 0.0);
}

// The generalised least-squares mean, the variance about it that is likeliest, and the residuals, which forward
// substitution has decorrelated.
struct Residuals {
  double mean = 0, variance = 0;
  std::vector<double> decorrelated;
};

Residuals residuals(const GaussianProcess::Factor& factor, std::vector<double> values) {
  const std::vector<double>& ones = factor.ones;
  for (size_t row = 0; row < values.size(); ++row)
    values[row] = (values[row] - dot(factor.rows[row], values, row)) / factor.rows[row][row];
  Residuals result;
  result.mean = dot(values, ones, ones.size()) / dot(ones, ones, ones.size());
  for (size_t row = 0; row < values.size(); ++row) values[row] -= result.mean * ones[row];
  result.variance = dot(values, values, values.size()) / static_cast<double>(values.size());
  result.decorrelated = std::move(values);
  return result;
}

// All rows, or the `most / 2` with the least values and random others.
std::vector<size_t> chosen(const std::vector<double>& values, size_t most, Random& random) {
  std::vector<size_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  if (rows.size() <= most) return rows;
  std::ranges::stable_sort(rows, {}, [&](size_t row) { return values[row]; });
  for (size_t at = most / 2; at < most; ++at) std::swap(rows[at], rows[at + random.below(rows.size() - at)]);
  rows.resize(most);
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

// Matérn's with 3/2.
double GaussianProcess::Covariance::operator()(size_t a, size_t b) const {
  const uint32_t *one = places.of(a), *other = places.of(b);
  double sum = 0;
  for (size_t axis = 0; axis < inverse_squares.size(); ++axis)
    sum += inverse_squares[axis] * squared(static_cast<double>(one[axis]) - static_cast<double>(other[axis]));
  const double distance = std::sqrt(3 * sum);
  return (1 + distance) * std::exp(-distance);
}

void GaussianProcess::Covariance::extend(Factor& factor, const std::vector<size_t>& points, size_t point) const {
  std::vector<double> row;
  double left = 1 + noise;
  for (size_t at = 0; at < factor.rows.size(); ++at) {
    row.push_back(((*this)(point, points[at]) - dot(factor.rows[at], row, at)) / factor.rows[at][at]);
    left -= squared(row.back());
  }
  row.push_back(std::sqrt(std::max(left, noise)));  // less only by rounding
  factor.ones.push_back((1 - dot(row, factor.ones, factor.ones.size())) / row.back());
  factor.rows.push_back(std::move(row));
}

GaussianProcess::GaussianProcess(const Places& places, size_t most)
    : places_(places),
      most_(most),
      extents_(places.axes(), 1),
      hyperparameters_{std::vector<double>(places.axes(), std::log(kRelevance)), std::log(kNoise)},
      covariance_{places, {}, 0},
      slots_(places.points(), kNone) {
  for (size_t point = 0; point < places.points(); ++point)
    for (size_t axis = 0; axis < places.axes(); ++axis)
      extents_[axis] = std::max<double>(extents_[axis], places.of(point)[axis]);
}

GaussianProcess::Covariance GaussianProcess::covariance(const Hyperparameters& hyperparameters) const {
  Covariance result{places_, {}, std::exp(hyperparameters.log_noise)};
  for (size_t axis = 0; axis < extents_.size(); ++axis)
    result.inverse_squares.push_back(std::exp(hyperparameters.log_relevances[axis]) / squared(extents_[axis]));
  return result;
}

// The logarithm of the posterior density of the hyperparameters, with the likeliest mean and variance; less a constant.
double GaussianProcess::log_posterior(const std::vector<size_t>& points, const std::vector<double>& values,
                                      const Hyperparameters& hyperparameters) const {
  double log = -squared((hyperparameters.log_noise - std::log(kNoise)) / kDeviation) / 2;
  for (const double one : hyperparameters.log_relevances) log -= squared((one - std::log(kRelevance)) / kDeviation) / 2;
  const Covariance with = covariance(hyperparameters);
  Factor factor;
  for (const size_t point : points) {
    with.extend(factor, points, point);
    log -= std::log(factor.rows.back().back());
  }
  return log - static_cast<double>(values.size()) / 2 * std::log(residuals(factor, values).variance + kLeastVariance);
}

// From the last hyperparameters on, one random step after the other, each of which is kept if it is more probable.
// Equal values say nothing about a length scale.
void GaussianProcess::optimise(const std::vector<size_t>& points, const std::vector<double>& values, Random& random) {
  std::vector<size_t> some;
  std::vector<double> of_some;
  for (const size_t row : chosen(values, kFitted, random)) {
    some.push_back(points[row]);
    of_some.push_back(values[row]);
  }
  const auto [low, high] = std::ranges::minmax(of_some);
  if (high - low < kEqual) return;
  constexpr size_t kFine = 1 << 20;
  const auto unit = [&] { return static_cast<double>(random.below(kFine)) / kFine; };
  const auto add = [](double& log, double step, double least, double most) {
    log = std::clamp(log + step, std::log(least), std::log(most));
  };
  double best = log_posterior(some, of_some, hyperparameters_);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Hyperparameters other = hyperparameters_;
    const size_t axis = random.below(other.log_relevances.size() + 1);
    const double step = (unit() + unit() + unit() - 1.5) / 1.5 * kStep;
    if (axis < other.log_relevances.size())
      add(other.log_relevances[axis], step, kLeastRelevance, kMostRelevance);
    else
      add(other.log_noise, step, kLeastNoise, kMostNoise);
    const double log = log_posterior(some, of_some, other);
    if (log <= best) continue;
    best = log;
    hyperparameters_ = std::move(other);
  }
}

void GaussianProcess::fit(const std::vector<size_t>& points, const std::vector<double>& values,
                          std::vector<size_t> watched, Random& random) {
  optimise(points, values, random);
  const size_t more = static_cast<size_t>(static_cast<double>(values.size()) * kMore) + kFew;
  due_ = std::min(more, values.size() + most_);
  covariance_.inverse_squares = covariance(hyperparameters_).inverse_squares;
  covariance_.noise = std::exp(hyperparameters_.log_noise);
  for (const size_t point : watched_) slots_[point] = kNone;
  watched_ = std::move(watched);
  for (size_t slot = 0; slot < watched_.size(); ++slot) slots_[watched_[slot]] = slot;
  variances_.assign(watched_.size(), 1);
  solved_.assign((watched_.size() + kBlock - 1) / kBlock, {});
  inputs_.clear();
  factor_ = {};
  rows_ = chosen(values, most_, random);
  known_ = values.size();
  for (const size_t row : rows_) append(points[row]);
}

void GaussianProcess::append(size_t point) {
  covariance_.extend(factor_, inputs_, point);
  inputs_.push_back(point);
}

// Forward substitution of the covariances of a block's points with the rows that are new, and what each new row takes
// from their variances. Points are in blocks so that all rows of one fit into a cache.
void GaussianProcess::substitute(size_t block) {
  const size_t begin = block * kBlock, count = std::min(kBlock, watched_.size() - begin);
  std::vector<float>& rows = solved_[block];
  for (size_t at = rows.size() / count; at < factor_.rows.size(); ++at) {
    const std::vector<double>& row = factor_.rows[at];
    rows.resize((at + 1) * count);
    float* left = &rows[at * count];
    for (size_t slot = 0; slot < count; ++slot)
      left[slot] = static_cast<float>(covariance_(inputs_[at], watched_[begin + slot]));
    for (size_t before = 0; before < at; ++before) {
      const auto share = static_cast<float>(row[before]);
      const float* solved = &rows[before * count];
      for (size_t slot = 0; slot < count; ++slot) left[slot] -= share * solved[slot];
    }
    const auto own = static_cast<float>(1 / row[at]);
    for (size_t slot = 0; slot < count; ++slot) {
      left[slot] *= own;
      variances_[begin + slot] -= left[slot] * left[slot];
    }
  }
}

void GaussianProcess::learn(const std::vector<size_t>& points, const std::vector<double>& values) {
  for (; known_ < values.size(); ++known_) {
    rows_.push_back(known_);
    append(points[known_]);
  }
  std::vector<double> of_rows;
  for (const size_t row : rows_) of_rows.push_back(values[row]);
  const Residuals all = residuals(factor_, std::move(of_rows));
  mean_ = all.mean;
  variance_ = all.variance;
  means_.assign(watched_.size(), 0);
  for (size_t block = 0; block < solved_.size(); ++block) {
    substitute(block);
    float* means = &means_[block * kBlock];
    const size_t count = std::min(kBlock, watched_.size() - block * kBlock);
    for (size_t row = 0; row < rows_.size(); ++row) {
      const auto share = static_cast<float>(all.decorrelated[row]);
      const float* solved = &solved_[block][row * count];
      for (size_t slot = 0; slot < count; ++slot) means[slot] += share * solved[slot];
    }
  }
}

Prediction GaussianProcess::predict(size_t point) const {
  const size_t slot = slots_[point];
  const double variance = variance_ * static_cast<double>(variances_[slot]);
  return {mean_ + static_cast<double>(means_[slot]), std::max(kLeastSpread, std::sqrt(std::max(0.0, variance)))};
}

}  // namespace attnscope::search
