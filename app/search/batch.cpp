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

void fill(std::vector<size_t>& batch, size_t size, const Grid& grid, const History& history, Random& random,
          const std::vector<size_t>& wanted) {
  std::vector<size_t> left = untried(all_points(grid), history);
  random.shuffle(left);
  left.insert(left.begin(), wanted.begin(), wanted.end());
  for (const size_t point : left)
    if (batch.size() < size && !history.tried(point) && !is_in(batch, point)) batch.push_back(point);
}

std::optional<size_t> sound_beyond(const Grid& grid, const History& history, size_t point, size_t axis, bool up) {
  auto next = grid.beyond(point, axis, up);
  while (next && history.rejected(*next)) next = grid.beyond(*next, axis, up);
  return next;
}

}  // namespace attnscope::search
