#include "search/batch.h"

#include <algorithm>
#include <numeric>

namespace attnscope::search {

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

void count_round(const History& history, std::optional<size_t>& best, size_t& without_best, size_t first) {
  const std::optional<size_t> now = history.best(first);
  without_best = now == best ? without_best + 1 : 0;
  best = now;
}

void add(std::vector<size_t>& batch, size_t size, const std::vector<size_t>& points) {
  for (const size_t point : points)
    if (batch.size() < size && !is_in(batch, point)) batch.push_back(point);
}

void fill(std::vector<size_t>& batch, size_t size, const Grid& grid, const History& history, Random& random,
          const std::vector<size_t>& wanted) {
  std::vector<size_t> left = untried(all_points(grid), history);
  random.shuffle(left);
  left.insert(left.begin(), wanted.begin(), wanted.end());
  for (const size_t point : left)
    if (batch.size() < size && !history.tried(point) && !is_in(batch, point)) batch.push_back(point);
}

void fill_warily(std::vector<size_t>& batch, size_t size, const Grid& grid, const History& history, Random& random,
                 const std::vector<size_t>& wanted, size_t without_best, size_t one_in) {
  constexpr size_t kAtALoss =
      32;  // batches without an accepted best, after which the share of random points grows no more
  while (batch.size() < size) {
    const size_t before = batch.size();
    if (random.below(one_in * kAtALoss) >= std::min(without_best, kAtALoss)) add(batch, before + 1, wanted);
    if (batch.size() == before) fill(batch, before + 1, grid, history, random);
    if (batch.size() == before) break;  // every point is tried
  }
}

std::vector<size_t> near_the_fastest(const Grid& grid, const History& history, size_t most) {
  std::vector<size_t> near;
  for (const size_t point : history.fastest(most))
    for (const size_t other : grid.neighbours(point))
      if (!history.tried(other)) near.push_back(other);
  return near;
}

std::vector<size_t> next_to_the_fastest(const Grid& grid, const History& history, size_t most) {
  for (const size_t point : history.fastest(most)) {
    std::vector<size_t> next;
    for (size_t axis = 0; axis < grid.extents().size(); ++axis)
      for (const bool up : {false, true})
        if (const auto other = sound_beyond(grid, history, point, axis, up); other && !history.tried(*other))
          next.push_back(*other);
    if (!next.empty()) return next;
  }
  return {};
}

std::optional<size_t> sound_beyond(const Grid& grid, const History& history, size_t point, size_t axis, bool up) {
  auto next = grid.beyond(point, axis, up);
  while (next && history.rejected(*next)) next = grid.beyond(*next, axis, up);
  return next;
}

}  // namespace attnscope::search
