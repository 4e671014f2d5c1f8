#include "search/surrogate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope::search {
namespace {

constexpr size_t kTrees = 20;
constexpr double kUnknown = 1;     // of the trees' spread, in favour of a point
constexpr double kTrusting = 0.3;  // squared logarithms that agree with the predictions, before anything ran
constexpr double kLevels = 200;    // of the predictions
constexpr double kHalf = 20;       // outcomes from which on the forest of the times counts half
constexpr size_t kMany = 50;       // outcomes from which on a few more change little

// Logarithms of the times; what was rejected is as slow as the slowest. Times beyond the median are cut off as far
// above it as the fastest is below, so that the forest parts fast points from one another and not slow ones.
std::vector<double> lessons(const std::vector<Outcome>& outcomes) {
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

}  // namespace

Surrogate::Surrogate(const Grid& grid, size_t renewed)
    : grid_(grid), renewed_(renewed), times_(kTrees), gaps_(kTrees) {}

void Surrogate::predict_from(std::vector<double> logs) {
  predicted_ = std::move(logs);
  levels_.assign(predicted_.size(), 0);
  if (predicted_.empty()) return;
  const auto [low, high] = std::ranges::minmax(predicted_);
  for (size_t point = 0; point < predicted_.size() && high > low; ++point)
    levels_[point] = static_cast<size_t>(kLevels * (predicted_[point] - low) / (high - low));
}

std::vector<size_t> Surrogate::with_level(size_t point) const {
  std::vector<size_t> positions = grid_.at(point);
  positions.push_back(levels_.at(point));
  return positions;
}

void Surrogate::teach(Forest& forest, const std::vector<uint32_t>& positions, size_t axes,
                      const std::vector<double>& values, Random& random) const {
  const bool some = renewed_ > 0 && values.size() > kMany && forest.has_learnt();
  some ? forest.renew(renewed_, positions, axes, values, random) : forest.learn(positions, axes, values, random);
}

void Surrogate::learn(const History& history, Random& random) {
  const std::vector<Outcome>& outcomes = history.outcomes();
  std::vector<double> values = lessons(outcomes);
  std::vector<uint32_t> places, with_levels;
  for (const Outcome& one : outcomes)
    for (const size_t position : grid_.at(one.point)) places.push_back(static_cast<uint32_t>(position));
  const size_t axes = grid_.extents().size();
  teach(times_, places, axes, values, random);
  own_ = 1;
  if (predicted_.empty()) return;
  const auto count = static_cast<double>(outcomes.size());
  own_ = count / (count + kHalf);
  std::vector<double> predicted;
  for (const Outcome& one : outcomes) {
    predicted.push_back(predicted_.at(one.point));
    for (const size_t position : with_level(one.point)) with_levels.push_back(static_cast<uint32_t>(position));
  }
  trust_ = slope(predicted, values);
  for (size_t at = 0; at < values.size(); ++at) values[at] -= trust_ * predicted[at];
  teach(gaps_, with_levels, axes + 1, values, random);
}

double Surrogate::expected(size_t point) const {
  const Forest::Prediction time = times_.predict(grid_.at(point));
  const double own = time.mean - kUnknown * time.spread;
  if (predicted_.empty()) return own;
  const Forest::Prediction gap = gaps_.predict(with_level(point));
  const double guided = trust_ * predicted_[point] + gap.mean - kUnknown * gap.spread;
  return own_ * own + (1 - own_) * guided;
}

std::vector<size_t> Surrogate::ranked(std::vector<size_t> points) const {
  std::ranges::sort(points);
  points.erase(std::ranges::unique(points).begin(), points.end());
  std::vector<std::pair<double, size_t>> scored;
  for (const size_t point : points) scored.emplace_back(expected(point), point);
  std::ranges::sort(scored);
  std::vector<size_t> order;
  for (const auto& [score, point] : scored) order.push_back(point);
  return order;
}

}  // namespace attnscope::search
