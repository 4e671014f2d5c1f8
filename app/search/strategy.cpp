#include "search/strategy.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace attnscope::search {
namespace {

std::vector<size_t> all_points(const Grid& grid) {
  std::vector<size_t> points(grid.size());
  std::iota(points.begin(), points.end(), size_t{0});
  return points;
}

std::vector<size_t> untried(const std::vector<size_t>& points, const History& history) {
  std::vector<size_t> left;
  std::ranges::copy_if(points, std::back_inserter(left), [&](size_t point) { return !history.tried(point); });
  return left;
}

bool is_in(const std::vector<size_t>& points, size_t point) { return std::ranges::count(points, point) > 0; }

// How many rounds have passed without a newly accepted best; `best` is the last one seen.
void count_round(const History& history, std::optional<size_t>& best, size_t& without_best) {
  without_best = history.best() == best ? without_best + 1 : 0;
  best = history.best();
}

}  // namespace

std::vector<size_t> Exhaustive::propose(const History& history) { return untried(all_points(grid_), history); }

RandomOrder::RandomOrder(const Grid& grid, uint64_t seed) : order_(all_points(grid)) { Random(seed).shuffle(order_); }

std::vector<size_t> RandomOrder::propose(const History& history) { return untried(order_, history); }

Evolutionary::Evolutionary(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings)
    : grid_(grid), random_(seed), seeds_(std::move(seeds)), settings_(settings) {}

void Evolutionary::fill_with_random(std::vector<size_t>& generation, const History& history) {
  std::vector<size_t> left = untried(all_points(grid_), history);
  random_.shuffle(left);
  for (const size_t point : left)
    if (generation.size() < settings_.population && !is_in(generation, point)) generation.push_back(point);
}

std::optional<size_t> Evolutionary::mutated(size_t parent) {
  std::vector<size_t> positions = grid_.at(parent);
  for (size_t moves = 1 + random_.below(settings_.radius); moves > 0; --moves) {
    const size_t axis = random_.below(positions.size());
    const bool up = random_.below(2) == 1;
    if (up ? positions[axis] + 1 < grid_.extents()[axis] : positions[axis] > 0) positions[axis] += up ? 1 : size_t(-1);
  }
  return grid_.find(positions);
}

std::vector<size_t> Evolutionary::propose(const History& history) {
  constexpr int kDraws = 64;  // for a child that exists and was not tried
  std::vector<size_t> generation;
  if (generation_++ > 0) count_round(history, best_, without_best_);
  if (without_best_ >= settings_.patience) return {};
  const std::vector<size_t> parents = history.fastest(settings_.survivors);
  if (parents.empty()) {
    for (const size_t seed : seeds_)
      if (!history.tried(seed) && !is_in(generation, seed)) generation.push_back(seed);
    fill_with_random(generation, history);
    return generation;
  }
  for (size_t child = 0; child < settings_.population; ++child)
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto point = mutated(parents[child % parents.size()]);
      if (!point || history.tried(*point) || is_in(generation, *point)) continue;
      generation.push_back(*point);
      break;
    }
  return generation;
}

ModelGuided::ModelGuided(const Grid& grid, std::vector<std::optional<double>> predicted, Settings settings)
    : grid_(grid), order_(all_points(grid)), rank_(grid.size()), settings_(settings) {
  predicted.resize(grid.size());
  std::ranges::stable_sort(
      order_, {}, [&](size_t point) { return predicted[point].value_or(std::numeric_limits<double>::infinity()); });
  for (size_t rank = 0; rank < order_.size(); ++rank) rank_[order_[rank]] = rank;
}

std::vector<size_t> ModelGuided::propose(const History& history) {
  if (!history.outcomes().empty()) count_round(history, best_, without_best_);
  if (without_best_ >= settings_.patience && best_) return {};
  std::vector<size_t> batch;
  if (best_) {
    std::vector<size_t> near = untried(grid_.neighbours(*best_), history);
    std::ranges::sort(near, {}, [&](size_t point) { return rank_[point]; });
    near.resize(std::min(near.size(), settings_.batch / 2));
    batch = std::move(near);
  }
  for (const size_t point : order_)
    if (batch.size() < settings_.batch && !history.tried(point) && !is_in(batch, point)) batch.push_back(point);
  return batch;
}

}  // namespace attnscope::search
