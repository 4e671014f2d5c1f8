#include "search/strategy.h"

#include <algorithm>
#include <utility>

#include "search/batch.h"
#include "search/learning.h"

namespace attnscope::search {

std::vector<size_t> Exhaustive::propose(const History& history) { return untried(all_points(grid_), history); }

std::vector<size_t> Listed::propose(const History& history) { return untried(points_, history); }

RandomOrder::RandomOrder(const Grid& grid, uint64_t seed) : order_(all_points(grid)) { Random(seed).shuffle(order_); }

std::vector<size_t> RandomOrder::propose(const History& history) { return untried(order_, history); }

Evolutionary::Evolutionary(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings)
    : grid_(grid), random_(seed), seeds_(std::move(seeds)), settings_(settings) {
  settings_.start = std::max(settings_.start, seeds_.size());
}

size_t Evolutionary::mutated(size_t parent, const History& history) {
  size_t point = parent;
  for (size_t moves = 1 + random_.below(settings_.radius); moves > 0; --moves) {
    const size_t axis = random_.below(grid_.extents().size());
    const bool up = random_.below(2) == 1;
    point = sound_beyond(grid_, history, point, axis, up).value_or(point);
  }
  return point;
}

std::vector<size_t> Evolutionary::propose(const History& history) {
  constexpr int kDraws = 64;  // attempts to draw a child that was not tried
  const size_t tried = history.outcomes().size();
  if (tried > began_) count_round(history, best_, without_best_, began_);
  if (without_best_ >= settings_.patience) {
    if (!settings_.restarts) return {};
    began_ = tried;
    best_.reset();
    without_best_ = 0;
  }
  std::vector<size_t> generation;
  const std::vector<size_t> parents = history.fastest(settings_.survivors, began_);
  if (parents.empty()) {
    fill(generation, settings_.start, grid_, history, random_, seeds_);
    return generation;
  }
  for (size_t child = 0; child + settings_.immigrants < settings_.population; ++child)
    for (int draw = 0; draw < kDraws; ++draw) {
      const size_t point = mutated(parents[child % parents.size()], history);
      if (history.tried(point) || is_in(generation, point)) continue;
      generation.push_back(point);
      break;
    }
  if (settings_.immigrants > 0) fill(generation, generation.size() + settings_.immigrants, grid_, history, random_);
  return generation;
}

Local::Local(const Grid& grid, uint64_t seed, std::vector<size_t> seeds, Settings settings)
    : grid_(grid), random_(seed), seeds_(std::move(seeds)), settings_(settings), opened_(grid.size(), false) {}

void Local::open(size_t point) {
  opened_[point] = true;
  open_.clear();
  for (size_t axis = 0; axis < grid_.extents().size(); ++axis)
    for (const bool up : {false, true}) open_.push_back({point, axis, up});
  random_.shuffle(open_);
}

std::vector<size_t> Local::from_open(const History& history) {
  std::vector<size_t> batch;
  while (!open_.empty() && batch.size() < settings_.batch) {
    const Way way = open_.back();
    open_.pop_back();
    const auto next = sound_beyond(grid_, history, way.from, way.axis, way.up);
    if (!next || history.tried(*next) || is_in(batch, *next)) continue;
    batch.push_back(*next);
    under_way_.push_back({*next, way.axis, way.up});
  }
  return batch;
}

std::vector<size_t> Local::propose(const History& history) {
  std::vector<size_t> batch;
  if (!history.outcomes().empty()) count_round(history, best_, without_best_);
  if (settings_.patience > 0 && best_ && without_best_ >= settings_.patience) return {};
  const std::vector<size_t> fastest = history.fastest(history.outcomes().size());
  if (fastest.empty()) {
    fill(batch, settings_.start, grid_, history, random_, seeds_);
    return batch;
  }
  for (const Way& way : std::exchange(under_way_, {}))
    if (history.rejected(way.from)) open_.push_back(way);
  if (fastest_ != fastest.front()) open(fastest.front());
  fastest_ = fastest.front();
  for (batch = from_open(history); batch.empty(); batch = from_open(history)) {
    const auto next = std::ranges::find_if(fastest, [&](size_t point) { return !opened_[point]; });
    if (next == fastest.end() || random_.below(settings_.stray) == 0) {
      fill(batch, settings_.batch, grid_, history, random_);
      return batch;
    }
    open(*next);
  }
  return batch;
}

std::unique_ptr<Strategy> strategy_without_model(StrategyKind kind, const Grid& grid, uint64_t seed,
                                                 std::vector<size_t> seeds, bool has_budget, size_t at_once) {
  switch (kind) {
    case StrategyKind::exhaustive:
      return std::make_unique<Exhaustive>(grid);
    case StrategyKind::random:
      return std::make_unique<RandomOrder>(grid, seed);
    case StrategyKind::evolutionary: {
      auto settings = has_budget ? Evolutionary::persistent() : Evolutionary::Settings{};
      settings.population = std::max(settings.population, at_once);
      return std::make_unique<Evolutionary>(grid, seed, std::move(seeds), settings);
    }
    case StrategyKind::local: {
      auto settings = has_budget ? Local::persistent() : Local::Settings{};
      settings.batch = std::max(settings.batch, at_once);
      return std::make_unique<Local>(grid, seed, std::move(seeds), settings);
    }
    case StrategyKind::learning: {
      auto settings = has_budget ? Learning::persistent() : Learning::Settings{};
      settings.batch = std::max(settings.batch, at_once);
      return std::make_unique<Learning>(grid, seed, std::move(seeds), settings);
    }
    case StrategyKind::model_guided:
    case StrategyKind::halving:
      break;
  }
  return nullptr;
}

}  // namespace attnscope::search
