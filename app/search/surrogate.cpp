#include "search/surrogate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>

#include "search/batch.h"

namespace attnscope::search {
namespace {

constexpr size_t kTrees = 20;
constexpr double kUnknown = 1;       // of the trees' spread, in favour of a point
constexpr double kTrusting = 0.3;    // squared logarithms that agree with the predictions, before anything ran
constexpr double kLevels = 200;      // of the predictions
constexpr double kHalf = 20;         // outcomes from which on the forest of the times counts half
constexpr size_t kMany = 50;         // outcomes from which on a few more change little
constexpr size_t kWatched = 12'000;  // points that the process watches at the most

// Logarithms of the times; what was rejected is as slow as the slowest. Times beyond the median are cut off as far
// above it as the fastest is below, so that the forest parts fast points from one another and not slow ones.
std::vector<double> log_times(const std::vector<Outcome>& outcomes) {
  double slowest = 0;
  for (const Outcome& one : outcomes) slowest = std::max(slowest, one.us.value_or(0));
  std::vector<double> values;
  for (const Outcome& one : outcomes) values.push_back(std::log(one.us.value_or(slowest)));
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  for (double& value : values) value = std::min(value, 2 * median - sorted.front());
  return values;
}

// The slope of the times over the predictions, between 0 and 1; near 1 as long as the predictions are much alike.
double slope(const std::vector<double>& predicted, const std::vector<double>& values) {
  const auto mean = [](const std::vector<double>& all) {
    double sum = 0;
    for (const double one : all) sum += one;
    return sum / static_cast<double>(all.size());
  };
  const double middle = mean(predicted), of_values = mean(values);
  double together = kTrusting, own = kTrusting;
  for (size_t at = 0; at < values.size(); ++at) {
    together += (predicted[at] - middle) * (values[at] - of_values);
    own += (predicted[at] - middle) * (predicted[at] - middle);
  }
  return std::clamp(together / own, 0.0, 1.0);
}

// The logarithm of how much less than the least value one is expected to be (Jones, Schonlau and Welch, Journal of
// Global Optimization 13, 1998); `less`: by how much the mean is less.
double log_improvement(double less, double spread) {
  constexpr double kFar = -10;  // from here on the two terms below are too much alike
  const double far = less / spread;
  const double log_density = -far * far / 2 - std::log(2 * std::numbers::pi) / 2;
  if (far < kFar) return std::log(spread) + log_density - 2 * std::log(-far);
  const double share = std::erfc(-far / std::numbers::sqrt2) / 2;
  return std::log(spread) + std::log(far * share + std::exp(log_density));
}

// The `most` least of the points, without duplicates.
std::vector<size_t> least_of(std::vector<size_t> points, size_t most, const std::function<double(size_t)>& value) {
  std::ranges::sort(points);
  points.erase(std::ranges::unique(points).begin(), points.end());
  std::vector<std::pair<double, size_t>> valued;
  valued.reserve(points.size());
  for (const size_t point : points) valued.emplace_back(value(point), point);
  most = std::min(most, valued.size());
  std::ranges::partial_sort(valued, valued.begin() + static_cast<std::ptrdiff_t>(most));
  points.resize(most);
  for (size_t at = 0; at < most; ++at) points[at] = valued[at].second;
  return points;
}

}  // namespace

Surrogate::Surrogate(const Grid& grid, size_t renewed)
    : grid_(grid), renewed_(renewed), places_(grid), times_(places_, kTrees), process_(places_) {}

Surrogate::Gaps::Gaps(const Grid& grid) : places(grid, 1), forest(places, kTrees) {}

void Surrogate::predict_from(std::vector<double> logs) {
  predicted_ = std::move(logs);
  if (predicted_.empty()) return;
  if (!gaps_) gaps_.emplace(grid_);
  const auto [low, high] = std::ranges::minmax(predicted_);
  for (size_t point = 0; point < predicted_.size() && high > low; ++point)
    gaps_->places.set(point, places_.axes(), static_cast<uint32_t>(kLevels * (predicted_[point] - low) / (high - low)));
  gaps_->moved = true;
}

// All trees learn, or only some of them. `moved`: the others must read the places again.
void Surrogate::teach(Forest& forest, bool moved, const std::vector<size_t>& points, const std::vector<double>& values,
                      Random& random) const {
  if (renewed_ == 0 || values.size() <= kMany || !forest.has_learnt()) return forest.learn(points, values, random);
  if (moved) forest.read_again();
  forest.renew(renewed_, points, values, random);
}

void Surrogate::learn(const History& history, Random& random) {
  const std::vector<Outcome>& outcomes = history.outcomes();
  std::vector<double> values = log_times(outcomes);
  least_ = std::ranges::min(values);
  std::vector<size_t> points;
  for (const Outcome& one : outcomes) points.push_back(one.point);
  teach(times_, false, points, values, random);
  own_ = 1;
  if (!predicted_.empty()) {
    const auto count = static_cast<double>(outcomes.size());
    own_ = count / (count + kHalf);
    std::vector<double> predicted;
    for (const size_t point : points) predicted.push_back(predicted_.at(point));
    trust_ = slope(predicted, values);
    for (size_t at = 0; at < values.size(); ++at) values[at] -= trust_ * predicted[at];
    teach(gaps_->forest, std::exchange(gaps_->moved, false), points, values, random);
  }
  if (process_.due(values.size())) process_.fit(points, values, worth_watching(history, random), random);
  process_.learn(points, values);
}

// All points, or as many as it may watch: half of them those that the forests like.
std::vector<size_t> Surrogate::worth_watching(const History& history, Random& random) const {
  std::vector<size_t> points(places_.points());
  std::iota(points.begin(), points.end(), size_t{0});
  if (points.size() <= kWatched) return points;
  std::vector<size_t> left = untried(points, history);
  points = by_forests(left, kWatched / 2);
  random.shuffle(left);
  left.resize(std::min(left.size(), kWatched / 2));
  points.insert(points.end(), left.begin(), left.end());
  std::ranges::sort(points);
  points.erase(std::ranges::unique(points).begin(), points.end());
  return points;
}

double Surrogate::guide(size_t point) const { return predicted_.empty() ? 0 : trust_ * predicted_[point]; }

double Surrogate::expected_by_forests(size_t point) const {
  const Prediction time = times_.predict(point);
  const double own = time.mean - kUnknown * time.spread;
  if (predicted_.empty()) return own;
  const Prediction gap = gaps_->forest.predict(point);
  return own_ * own + (1 - own_) * (guide(point) + gap.mean - kUnknown * gap.spread);
}

double Surrogate::gain_by_process(size_t point) const {
  const Prediction gap = process_.predict(point);
  return log_improvement(least_ - guide(point) - gap.mean, gap.spread);
}

std::vector<size_t> Surrogate::by_forests(std::vector<size_t> points, size_t most) const {
  return least_of(std::move(points), most, [&](size_t point) { return expected_by_forests(point); });
}

std::vector<size_t> Surrogate::by_process(std::vector<size_t> points, size_t most) const {
  std::erase_if(points, [&](size_t point) { return !process_.watches(point); });
  return least_of(std::move(points), most, [&](size_t point) { return -gain_by_process(point); });
}

std::vector<size_t> Surrogate::in_turn(const std::vector<size_t>& points, size_t most) {
  std::vector<size_t> first = by_process(points, most), second = by_forests(points, most), both;
  if (forests_first_) first.swap(second);
  forests_first_ = !forests_first_;
  for (size_t at = 0; at < most; ++at)
    for (const std::vector<size_t>* one : {&first, &second})
      if (at < one->size()) add(both, std::min(most, both.size() + 1), {(*one)[at]});
  return both;
}

}  // namespace attnscope::search
