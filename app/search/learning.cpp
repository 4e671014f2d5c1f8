#include "search/learning.h"

#include <algorithm>
#include <cmath>

#include "search/batch.h"

namespace attnscope::search {
namespace {

constexpr size_t kTrees = 20;
constexpr size_t kFastest = 5;   // points whose neighbours are looked at
constexpr size_t kDrawn = 400;   // points from anywhere that are looked at
constexpr double kUnknown = 1;   // of the trees' spread, in favour of a point
constexpr size_t kAtALoss = 32;  // batches without an accepted best: from then on every second one is random

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

}  // namespace

Learning::Learning(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings)
    : grid_(grid), random_(seed), seeds_(std::move(seeds)), settings_(settings), forest_(kTrees) {}

void Learning::learn(const History& history) {
  std::vector<uint32_t> positions;
  for (const Outcome& one : history.outcomes())
    for (const size_t position : grid_.at(one.point)) positions.push_back(static_cast<uint32_t>(position));
  forest_.learn(positions, grid_.extents().size(), lessons(history.outcomes()), random_);
}

std::vector<size_t> Learning::ranked(const std::vector<size_t>& points) const {
  std::vector<std::pair<double, size_t>> scored;
  for (const size_t point : points) {
    const Forest::Prediction time = forest_.predict(grid_.at(point));
    scored.emplace_back(time.mean - kUnknown * time.spread, point);
  }
  std::ranges::sort(scored);
  std::vector<size_t> order;
  for (const auto& [score, point] : scored) order.push_back(point);
  return order;
}

std::vector<size_t> Learning::near_the_fastest(const History& history) const {
  std::vector<size_t> near;
  for (const size_t point : history.fastest(kFastest))
    for (const size_t other : grid_.neighbours(point))
      if (!history.tried(other)) near.push_back(other);
  std::ranges::sort(near);
  near.erase(std::ranges::unique(near).begin(), near.end());
  return near;
}

// The next values up and down of the fastest point that has any which was not tried.
std::vector<size_t> Learning::next_to_the_fastest(const History& history) const {
  for (const size_t point : history.fastest(kFastest)) {
    std::vector<size_t> next;
    for (size_t axis = 0; axis < grid_.extents().size(); ++axis)
      for (const bool up : {false, true})
        if (const auto other = sound_beyond(grid_, history, point, axis, up); other && !history.tried(*other))
          next.push_back(*other);
    if (!next.empty()) return next;
  }
  return {};
}

std::vector<size_t> Learning::from_anywhere(const History& history) {
  std::vector<size_t> drawn;
  for (size_t draw = 0; draw < kDrawn; ++draw)
    if (const size_t point = random_.below(grid_.size()); !history.tried(point)) drawn.push_back(point);
  std::ranges::sort(drawn);
  drawn.erase(std::ranges::unique(drawn).begin(), drawn.end());
  return drawn;
}

std::vector<size_t> Learning::propose(const History& history) {
  std::vector<size_t> batch;
  if (!history.outcomes().empty()) count_round(history, best_, without_best_);
  if (settings_.patience > 0 && best_ && without_best_ >= settings_.patience) return {};
  if (history.fastest(1).empty()) {
    fill(batch, settings_.start, grid_, history, random_, seeds_);
    return batch;
  }
  learn(history);
  const auto add = [&](const std::vector<size_t>& points, size_t size) {
    for (const size_t point : points)
      if (batch.size() < size && !is_in(batch, point)) batch.push_back(point);
  };
  if (const auto next = next_to_the_fastest(history); !next.empty() && random_.below(2) == 0)
    batch.push_back(next[random_.below(next.size())]);
  add(ranked(near_the_fastest(history)), (settings_.batch + 1) / 2);
  const std::vector<size_t> anywhere = ranked(from_anywhere(history));
  while (batch.size() < settings_.batch) {
    const size_t before = batch.size();
    if (random_.below(2 * kAtALoss) >= std::min(without_best_, kAtALoss)) add(anywhere, before + 1);
    if (batch.size() == before) fill(batch, before + 1, grid_, history, random_);
    if (batch.size() == before) break;  // every point is tried
  }
  return batch;
}

}  // namespace attnscope::search
