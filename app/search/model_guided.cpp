#include "search/model_guided.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/batch.h"

namespace attnscope::search {
namespace {

constexpr size_t kTrees = 20;   // of the forest that learns the model
constexpr size_t kFastest = 5;  // points whose neighbours are looked at
constexpr size_t kStray = 10;   // one in so many points is random at the most
constexpr size_t kRenewed = 4;  // trees that learn a batch's outcomes

}  // namespace

ModelGuided::ModelGuided(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, std::vector<size_t> unranked,
                         Settings settings)
    : grid_(grid),
      random_(seed),
      seeds_(std::move(seeds)),
      settings_(settings),
      unranked_(std::move(unranked)),
      told_(grid.size()),
      expected_(grid, kRenewed),
      model_(expected_.places(), kTrees) {
  random_.shuffle(unranked_);
}

std::vector<size_t> ModelGuided::to_model() {
  std::vector<size_t> asked;
  if (over_) return asked;
  const size_t most = std::min(settings_.modelled, unranked_.size());
  if (!predicted_.empty())
    std::ranges::partial_sort(unranked_, unranked_.begin() + static_cast<std::ptrdiff_t>(most / 2), {},
                              [&](size_t point) { return std::pair(predicted_[point], point); });
  asked.assign(unranked_.begin(), unranked_.begin() + static_cast<std::ptrdiff_t>(most));
  unranked_.erase(unranked_.begin(), unranked_.begin() + static_cast<std::ptrdiff_t>(most));
  return asked;
}

void ModelGuided::modelled(size_t point, std::optional<double> us) {
  if (!us) return;
  told_.at(point) = std::log(*us);
  news_ = true;
}

void ModelGuided::learn_the_model() {
  if (!std::exchange(news_, false)) return;
  std::vector<size_t> points;
  std::vector<double> logs;
  for (size_t point = 0; point < told_.size(); ++point) {
    if (!told_[point]) continue;
    points.push_back(point);
    logs.push_back(*told_[point]);
  }
  const bool whole = logs.size() == told_.size();
  if (!whole) model_.learn(points, logs, random_);
  predicted_.resize(told_.size());
  for (size_t point = 0; point < told_.size(); ++point)
    predicted_[point] = told_[point] ? *told_[point] : model_.predict(point).mean;
  expected_.predict_from(predicted_);
}

std::vector<size_t> ModelGuided::propose(const History& history) {
  std::vector<size_t> batch;
  if (!history.outcomes().empty()) count_round(history, best_, without_best_);
  over_ = settings_.patience > 0 && best_ && without_best_ >= settings_.patience;
  if (over_) return batch;
  learn_the_model();
  if (predicted_.empty() && history.outcomes().empty()) {
    fill(batch, settings_.start, grid_, history, random_, seeds_);
    return batch;
  }
  if (history.fastest(1).empty()) {
    batch = untried(std::exchange(seeds_, {}), history);
    add(batch, batch.size() + settings_.batch, liked_by_the_model(history));
    fill(batch, settings_.batch, grid_, history, random_);
    return batch;
  }
  expected_.learn(history, random_);
  const size_t half = settings_.batch / 2;
  add(batch, half, expected_.by_forests(near_the_fastest(grid_, history, kFastest), half));
  const std::vector<size_t> best = expected_.in_turn(untried(all_points(grid_), history), 2 * settings_.batch);
  fill_warily(batch, settings_.batch, grid_, history, random_, best, without_best_, kStray);
  return batch;
}

std::vector<size_t> ModelGuided::liked_by_the_model(const History& history) const {
  if (predicted_.empty()) return {};
  std::vector<size_t> points = untried(all_points(grid_), history);
  const auto end = points.begin() + static_cast<std::ptrdiff_t>(std::min(settings_.batch, points.size()));
  std::ranges::partial_sort(points, end, {}, [&](size_t point) { return std::pair(predicted_[point], point); });
  points.erase(end, points.end());
  return points;
}

}  // namespace attnscope::search
