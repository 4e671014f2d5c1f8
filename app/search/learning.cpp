#include "search/learning.h"

#include <algorithm>

#include "search/batch.h"

namespace attnscope::search {
namespace {

constexpr size_t kFastest = 5;  // points whose neighbours are looked at
constexpr size_t kStray = 2;    // one in so many of them is random at the most

}  // namespace

Learning::Learning(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings)
    : grid_(grid), random_(seed), seeds_(std::move(seeds)), settings_(settings), expected_(grid) {}

std::vector<size_t> Learning::propose(const History& history) {
  std::vector<size_t> batch;
  if (!history.outcomes().empty()) count_round(history, best_, without_best_);
  if (settings_.patience > 0 && best_ && without_best_ >= settings_.patience) return {};
  if (history.fastest(1).empty()) {
    fill(batch, settings_.start, grid_, history, random_, seeds_);
    return batch;
  }
  expected_.learn(history, random_);
  const auto next = next_to_the_fastest(grid_, history, kFastest);
  if (!next.empty() && random_.below(2) == 0) batch.push_back(next[random_.below(next.size())]);
  const size_t half = (settings_.batch + 1) / 2;
  add(batch, half, expected_.by_forests(near_the_fastest(grid_, history, kFastest), half));
  const std::vector<size_t> best = expected_.in_turn(untried(all_points(grid_), history), 2 * settings_.batch);
  fill_warily(batch, settings_.batch, grid_, history, random_, best, without_best_, kStray);
  return batch;
}

}  // namespace attnscope::search
