#include "search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace attnscope::search {
namespace {

constexpr double kStep = 3, kNoise = 0.01;  // before anything is known: their logarithms have the deviation kWide
constexpr double kWide = 1.5;
constexpr size_t kFitted = 100;  // values by which the lengths are found
constexpr int kTries = 60;       // changes of a length
constexpr double kStride = 4.5;  // the most that a change adds to a logarithm
constexpr double kMore = 1.3;    // times as many values, and kFew, until the lengths are found anew
constexpr size_t kFew = 4;
constexpr size_t kMost = 1000;    // values that it begins with
constexpr size_t kBlock = 256;    // watched points
constexpr double kLeast = 1e-12;  // variance

double squared(double value) { return value * value; }

double dot(const std::vector<double>& a, const std::vector<double>& b, size_t count) {
  return std::inner_product(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(), 0.0);
}

void solve(const GaussianProcess::Factor& factor, std::vector<double>& values) {
  for (size_t row = 0; row < values.size(); ++row)
    values[row] = (values[row] - dot(factor[row], values, row)) / factor[row][row];
}

// The values, solved, without the mean that is likeliest.
struct Centred {
  double middle = 0, variance = 0;
  std::vector<double> rest;
};

Centred centred(const GaussianProcess::Factor& factor, std::vector<double> values) {
  std::vector<double> ones(values.size(), 1.0);
  solve(factor, values);
  solve(factor, ones);
  Centred result;
  result.middle = dot(values, ones, ones.size()) / dot(ones, ones, ones.size());
  for (size_t row = 0; row < values.size(); ++row) values[row] -= result.middle * ones[row];
  result.variance = dot(values, values, values.size()) / static_cast<double>(values.size());
  result.rest = std::move(values);
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

// Matérn's covariance with 3/2.
double GaussianProcess::Likeness::operator()(size_t a, size_t b) const {
  const uint32_t *one = places.of(a), *other = places.of(b);
  double sum = 0;
  for (size_t axis = 0; axis < per_position.size(); ++axis)
    sum += per_position[axis] * squared(static_cast<double>(one[axis]) - static_cast<double>(other[axis]));
  const double far = std::sqrt(3 * sum);
  return (1 + far) * std::exp(-far);
}

void GaussianProcess::Likeness::extend(Factor& factor, const std::vector<size_t>& points, size_t point) const {
  std::vector<double> row;
  double left = 1 + noise;
  for (size_t at = 0; at < factor.size(); ++at) {
    row.push_back(((*this)(point, points[at]) - dot(factor[at], row, at)) / factor[at][at]);
    left -= squared(row.back());
  }
  row.push_back(std::sqrt(std::max(left, kLeast)));
  factor.push_back(std::move(row));
}

GaussianProcess::GaussianProcess(const Places& places)
    : places_(places),
      extents_(places.axes(), 1),
      shape_{std::vector<double>(places.axes(), std::log(kStep)), std::log(kNoise)},
      likeness_{places, {}, 0},
      slots_(places.points(), kNone) {
  for (size_t point = 0; point < places.points(); ++point)
    for (size_t axis = 0; axis < places.axes(); ++axis)
      extents_[axis] = std::max<double>(extents_[axis], places.of(point)[axis]);
}

GaussianProcess::Likeness GaussianProcess::of(const Shape& shape) const {
  Likeness likeness{places_, {}, std::exp(shape.noise)};
  for (size_t axis = 0; axis < extents_.size(); ++axis)
    likeness.per_position.push_back(std::exp(shape.steps[axis]) / squared(extents_[axis]));
  return likeness;
}

// The logarithm of how likely the values are with that shape, and the shape itself; less a constant.
double GaussianProcess::likelihood(const std::vector<size_t>& points, const std::vector<double>& values,
                                   const Shape& shape) const {
  double log = -squared((shape.noise - std::log(kNoise)) / kWide) / 2;
  for (const double step : shape.steps) log -= squared((step - std::log(kStep)) / kWide) / 2;
  const Likeness likeness = of(shape);
  Factor factor;
  for (const size_t point : points) {
    likeness.extend(factor, points, point);
    log -= std::log(factor.back().back());
  }
  return log - static_cast<double>(values.size()) / 2 * std::log(centred(factor, values).variance + kLeast);
}

// From the last shape on, one random change after the other, if it makes the values likelier.
void GaussianProcess::find_lengths(const std::vector<size_t>& points, const std::vector<double>& values,
                                   Random& random) {
  std::vector<size_t> some;
  std::vector<double> of_some;
  for (const size_t row : chosen(values, kFitted, random)) {
    some.push_back(points[row]);
    of_some.push_back(values[row]);
  }
  constexpr size_t kFine = 1 << 20;
  const auto unit = [&] { return static_cast<double>(random.below(kFine)) / kFine; };
  double best = likelihood(some, of_some, shape_);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Shape other = shape_;
    const size_t axis = random.below(other.steps.size() + 1);
    double& changed = axis < other.steps.size() ? other.steps[axis] : other.noise;
    changed += (unit() + unit() + unit() - 1.5) / 1.5 * kStride;
    const double likely = likelihood(some, of_some, other);
    if (likely <= best) continue;
    best = likely;
    shape_ = std::move(other);
  }
}

void GaussianProcess::fit(const std::vector<size_t>& points, const std::vector<double>& values,
                          std::vector<size_t> watched, Random& random) {
  find_lengths(points, values, random);
  due_ = static_cast<size_t>(static_cast<double>(values.size()) * kMore) + kFew;
  likeness_.per_position = of(shape_).per_position;
  likeness_.noise = std::exp(shape_.noise);
  for (const size_t point : watched_) slots_[point] = kNone;
  watched_ = std::move(watched);
  for (size_t slot = 0; slot < watched_.size(); ++slot) slots_[watched_[slot]] = slot;
  unknown_.assign(watched_.size(), 1);
  explained_.assign(watched_.size() / kBlock + 1, {});
  learnt_.clear();
  factor_.clear();
  rows_ = chosen(values, kMost, random);
  known_ = values.size();
  for (const size_t row : rows_) join(points[row]);
}

void GaussianProcess::join(size_t point) {
  likeness_.extend(factor_, learnt_, point);
  learnt_.push_back(point);
}

// The rows that have joined since the last time, for the watched points of a block: what is left of a row's covariance
// with each of them, once the rows before have explained theirs. All rows of a block fit into a cache.
void GaussianProcess::explain(size_t block) {
  const size_t begin = block * kBlock, count = std::min(kBlock, watched_.size() - begin);
  std::vector<float>& rows = explained_[block];
  for (size_t at = count > 0 ? rows.size() / count : factor_.size(); at < factor_.size(); ++at) {
    const std::vector<double>& row = factor_[at];
    rows.resize((at + 1) * count);
    float* left = &rows[at * count];
    for (size_t slot = 0; slot < count; ++slot)
      left[slot] = static_cast<float>(likeness_(learnt_[at], watched_[begin + slot]));
    for (size_t before = 0; before < at; ++before) {
      const auto share = static_cast<float>(row[before]);
      const float* explained = &rows[before * count];
      for (size_t slot = 0; slot < count; ++slot) left[slot] -= share * explained[slot];
    }
    const auto own = static_cast<float>(1 / row[at]);
    for (size_t slot = 0; slot < count; ++slot) {
      left[slot] *= own;
      unknown_[begin + slot] -= left[slot] * left[slot];
    }
  }
}

void GaussianProcess::learn(const std::vector<size_t>& points, const std::vector<double>& values) {
  for (; known_ < values.size(); ++known_) {
    rows_.push_back(known_);
    join(points[known_]);
  }
  std::vector<double> of_rows;
  for (const size_t row : rows_) of_rows.push_back(values[row]);
  const Centred all = centred(factor_, std::move(of_rows));
  middle_ = all.middle;
  variance_ = all.variance;
  means_.assign(watched_.size(), 0);
  for (size_t block = 0; block * kBlock < watched_.size(); ++block) {
    explain(block);
    float* means = &means_[block * kBlock];
    const size_t count = std::min(kBlock, watched_.size() - block * kBlock);
    for (size_t row = 0; row < rows_.size(); ++row) {
      const auto share = static_cast<float>(all.rest[row]);
      const float* explained = &explained_[block][row * count];
      for (size_t slot = 0; slot < count; ++slot) means[slot] += share * explained[slot];
    }
  }
}

Prediction GaussianProcess::predict(size_t point) const {
  const size_t slot = slots_[point];
  const double variance = variance_ * static_cast<double>(unknown_[slot]);
  return {middle_ + static_cast<double>(means_[slot]), std::sqrt(std::max(kLeast, variance))};
}

}  // namespace attnscope::search
