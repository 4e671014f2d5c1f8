// Strategies on made-up landscapes: a time for each point of a grid.
#include "search/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "search/batch.h"
#include "search/learning.h"
#include "search/model_guided.h"
#include "search/search.h"

namespace attnscope::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Landscape = std::function<std::optional<double>(const std::vector<size_t>& at)>;  // empty: rejected

Grid grid_of(const std::vector<size_t>& extents) {
  std::vector<std::vector<size_t>> points{{}};
  for (const size_t extent : extents) {
    std::vector<std::vector<size_t>> longer;
    for (const auto& point : points)
      for (size_t at = 0; at < extent; ++at) {
        longer.push_back(point);
        longer.back().push_back(at);
      }
    points = std::move(longer);
  }
  return Grid(std::move(points));
}

// A bowl: points are slower the further they are from the lowest one.
Landscape bowl(std::vector<size_t> lowest) {
  return [lowest = std::move(lowest)](const std::vector<size_t>& at) -> std::optional<double> {
    double us = 10;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const double off = static_cast<double>(at[axis]) - static_cast<double>(lowest[axis]);
      us *= 1 + 0.2 * off * off;
    }
    return us;
  };
}

struct Ran {
  std::vector<size_t> modelled;  // the points that the model was asked for
  std::vector<size_t> points;    // in the order of trial
  std::vector<size_t> batches;   // their sizes
  std::optional<size_t> best;    // accepted
};

Ran run(std::unique_ptr<Strategy> strategy, const Grid& grid, const Landscape& landscape, size_t budget = 0,
        ToldApart told_apart = {}, const Landscape& model = {}) {
  Ran ran;
  Search search(std::move(strategy), grid.size(), budget, std::move(told_apart));
  for (std::vector<size_t> batch = search.next(); !batch.empty(); batch = search.next()) {
    ran.batches.push_back(batch.size());
    for (const size_t point : search.to_model()) {
      ran.modelled.push_back(point);
      search.modelled(point, model(grid.at(point)));
    }
    for (const size_t point : batch) {
      ran.points.push_back(point);
      search.tell({point, landscape(grid.at(point))});
    }
  }
  ran.best = search.history().best();
  EXPECT_EQ(std::set<size_t>(ran.points.begin(), ran.points.end()).size(), ran.points.size()) << "a point was twice";
  return ran;
}

double least(const Ran& ran, const Grid& grid, const Landscape& landscape) {
  double us = 1e9;
  for (const size_t point : ran.points) us = std::min(us, landscape(grid.at(point)).value_or(1e9));
  return us;
}

template <class S>
std::unique_ptr<Strategy> evolutionary(const Grid& grid, S seed, std::vector<size_t> seeds = {},
                                       Evolutionary::Settings settings = {}) {
  return std::make_unique<Evolutionary>(grid, seed, std::move(seeds), settings);
}

TEST(GridTest, KnowsItsPointsAndTheirNeighbours) {
  const Grid grid({{0, 0}, {0, 1}, {1, 1}, {2, 0}});
  EXPECT_THAT(grid.extents(), ElementsAre(3, 2));
  EXPECT_EQ(grid.find({2, 0}), 3u);
  EXPECT_FALSE(grid.find({2, 1}));
  EXPECT_THAT(grid.neighbours(0), ElementsAre(3, 1)) << "on the first axis at any distance, then on the second";
  EXPECT_THAT(grid.neighbours(2), ElementsAre(1));
}

TEST(GridTest, TheNextPointLiesBeyondAHole) {
  const Grid grid({{0, 0}, {3, 0}, {4, 1}});
  EXPECT_EQ(grid.beyond(0, 0, true), 1u);
  EXPECT_EQ(grid.beyond(1, 0, false), 0u);
  EXPECT_FALSE(grid.beyond(1, 0, true)) << "the last on its axis";
  EXPECT_FALSE(grid.beyond(0, 0, false));
  EXPECT_FALSE(grid.beyond(0, 1, true));
}

TEST(HistoryTest, KnowsTheBestOfWhatCameAfterARestart) {
  History history(8);
  for (const auto& [point, us] : {std::pair<size_t, double>{0, 10}, {1, 100}, {2, 98}, {3, 50}})
    history.tell({point, us});
  EXPECT_EQ(history.best(), 0u);
  EXPECT_EQ(history.best(1), 3u);
  EXPECT_THAT(history.fastest(2, 1), ElementsAre(3, 2));
  EXPECT_FALSE(history.best(4));
}

TEST(HistoryTest, ABestIsAcceptedFrom3PercentOnOrWhereTheTwoAreToldApart) {
  History history(8, [](size_t a, size_t b) { return a == 4 && b == 2; });
  EXPECT_FALSE(history.best());
  history.tell({0, std::nullopt});
  EXPECT_FALSE(history.best()) << "rejected";
  history.tell({1, 100});
  EXPECT_EQ(history.best(), 1u);
  history.tell({3, 97.1});
  EXPECT_EQ(history.best(), 1u) << "2.9 % of noise";
  history.tell({2, 97});
  EXPECT_EQ(history.best(), 2u);
  history.tell({4, 96.9});
  EXPECT_EQ(history.best(), 4u) << "a small gain, but told apart";
  history.tell({5, 99});
  EXPECT_EQ(history.best(), 4u);
  EXPECT_THAT(history.fastest(3), ElementsAre(4, 2, 3));
}

TEST(ExhaustiveTest, TriesEveryPointInOrderWithinTheBudget) {
  const Grid grid = grid_of({2, 3});
  EXPECT_THAT(run(std::make_unique<Exhaustive>(grid), grid, bowl({0, 0})).points, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(run(std::make_unique<Exhaustive>(grid), grid, bowl({0, 0}), 4).points, ElementsAre(0, 1, 2, 3));
}

TEST(RandomOrderTest, TriesEveryPointInAnOrderThatTheSeedDecides) {
  const Grid grid = grid_of({4, 5});
  const auto order = [&](uint64_t seed) {
    return run(std::make_unique<RandomOrder>(grid, seed), grid, bowl({0, 0})).points;
  };
  EXPECT_THAT(order(1), SizeIs(20));
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  std::vector<size_t> sorted(20);
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  EXPECT_NE(order(1), sorted);
  // Every point comes first for about the same number of seeds: 2,000 seeds, 100 per point, within six standard
  // deviations.
  std::vector<int> first(20);
  for (uint64_t seed = 0; seed < 2000; ++seed) ++first[order(seed).front()];
  EXPECT_GT(*std::ranges::min_element(first), 100 - 60);
  EXPECT_LT(*std::ranges::max_element(first), 100 + 60);
}

TEST(EvolutionaryTest, ComesNearerToTheBestThanRandomPointsDo) {
  const Grid grid = grid_of({4, 4, 4, 3, 2, 2});
  const Landscape landscape = bowl({0, 2, 3, 1, 0, 1});
  double evolved = 0, random = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Ran ran = run(evolutionary(grid, seed), grid, landscape, 60);
    evolved += least(ran, grid, landscape) / 20;
    random +=
        least(run(std::make_unique<RandomOrder>(grid, seed), grid, landscape, ran.points.size()), grid, landscape) / 20;
  }
  EXPECT_LT(evolved, 10.6) << "10 is the best";
  EXPECT_GT(random, 12);
}

TEST(EvolutionaryTest, IsTheSameForASeed) {
  const Grid grid = grid_of({4, 4, 4});
  const auto points = [&](uint64_t seed) { return run(evolutionary(grid, seed), grid, bowl({1, 2, 3})).points; };
  EXPECT_EQ(points(7), points(7));
  EXPECT_NE(points(7), points(8));
}

TEST(EvolutionaryTest, StartsFromItsSeeds) {
  const Grid grid = grid_of({4, 4});
  const Ran ran = run(evolutionary(grid, 1, {9, 3, 9}), grid, bowl({0, 0}));
  EXPECT_EQ(ran.points[0], 9u);
  EXPECT_EQ(ran.points[1], 3u);
  EXPECT_EQ(ran.batches[0], 8u) << "filled with random points";
}

TEST(EvolutionaryTest, MutatesOnlyWithinItsRadiusOfASurvivor) {
  const Grid grid = grid_of({9, 9, 9});
  Evolutionary::Settings settings;
  settings.start = settings.population = settings.survivors = 1;
  settings.immigrants = 0;
  settings.radius = 1;
  settings.patience = 10;
  Search search(evolutionary(grid, 3, {grid.size() / 2}, settings), grid.size(), 0, {});
  for (std::vector<size_t> batch = search.next(); !batch.empty(); batch = search.next()) {
    ASSERT_THAT(batch, SizeIs(1));
    if (const auto parent = search.history().fastest(1); !parent.empty()) {
      size_t moved = 0;
      for (size_t axis = 0; axis < 3; ++axis) {
        const auto a = grid.at(parent[0])[axis], b = grid.at(batch[0])[axis];
        moved += a > b ? a - b : b - a;
      }
      EXPECT_EQ(moved, 1u);
    }
    search.tell({batch[0], bowl({0, 0, 0})(grid.at(batch[0]))});
  }
  EXPECT_GT(search.history().outcomes().size(), 5u);
}

TEST(EvolutionaryTest, WhatIsRejectedIsNeitherBestNorAParent) {
  const Grid grid = grid_of({20});
  // Below 10 every point is fast and wrong. Children step over it one by one, and none has a rejected parent.
  const Landscape landscape = [](const std::vector<size_t>& at) -> std::optional<double> {
    if (at[0] < 10) return std::nullopt;
    return 100.0 * static_cast<double>(at[0]);
  };
  Evolutionary::Settings settings;
  settings.start = settings.population = 2;
  settings.immigrants = 0;
  settings.radius = 1;
  settings.patience = 20;
  const Ran ran = run(evolutionary(grid, 1, {12, 13}, settings), grid, landscape);
  EXPECT_EQ(ran.best, 10u);
  std::vector<size_t> wrong;
  std::ranges::copy_if(ran.points, std::back_inserter(wrong), [](size_t point) { return point < 10; });
  EXPECT_THAT(wrong, testing::Not(IsEmpty())) << "they were tried, and lost";
  for (size_t at = 0; at < wrong.size(); ++at) EXPECT_EQ(wrong[at], 9 - at) << "the next one beyond what was rejected";
}

TEST(EvolutionaryTest, EndsWhereNothingGainsThreePercentUnlessItIsToldApart) {
  const Grid grid = grid_of({200});
  const Landscape slope = [](const std::vector<size_t>& at) { return 100 - 0.01 * static_cast<double>(at[0]); };
  Evolutionary::Settings settings;
  settings.start = settings.population = 2;
  settings.immigrants = 0;
  const Ran noise = run(evolutionary(grid, 1, {0, 1}, settings), grid, slope);
  const size_t known =
      run(evolutionary(grid, 1, {0, 1}, settings), grid, slope, 0, [](size_t, size_t) { return true; }).points.size();
  EXPECT_THAT(noise.batches, SizeIs(testing::Le(4u))) << "generation 0 and three without a gain";
  EXPECT_GT(known, 100u);
}

TEST(EvolutionaryTest, WithABudgetItBeginsAgainInsteadOfEnding) {
  const Grid grid = grid_of({40, 40});
  const auto tried = [&](size_t budget) {
    auto strategy = strategy_without_model(StrategyKind::evolutionary, grid, 1, {}, budget > 0);
    return run(std::move(strategy), grid, bowl({20, 20}), budget).points.size();
  };
  EXPECT_EQ(tried(1500), 1500u);
  EXPECT_LT(tried(0), 1500u);
}

TEST(EvolutionaryTest, EveryGenerationHasImmigrants) {
  // Mutations of radius 1 stay on the first row of a grid whose other rows have no neighbour in it.
  std::vector<std::vector<size_t>> points;
  for (size_t at = 0; at < 60; ++at) points.push_back({at, at < 30 ? size_t{0} : at});
  const Grid grid(points);
  const Landscape landscape = [](const std::vector<size_t>& at) { return at[1] == 0 ? 10.0 : 20.0; };
  Evolutionary::Settings settings;
  settings.patience = 4;
  const Ran ran = run(evolutionary(grid, 1, {0, 1, 2, 3, 4, 5, 6, 7}, settings), grid, landscape);
  EXPECT_GE(std::ranges::count_if(ran.points, [](size_t point) { return point >= 30; }), 2);
}

TEST(LocalTest, FollowsTheSlopeFromTheFastestOfItsStart) {
  const Grid grid = grid_of({30, 30});
  Local::Settings settings;
  settings.start = 1;
  settings.stray = 1'000'000;  // none
  const Ran ran = run(std::make_unique<Local>(grid, 1, std::vector<size_t>{0}, settings), grid, bowl({12, 5}));
  EXPECT_EQ(ran.points.front(), 0u);
  EXPECT_EQ(ran.best, grid.find({12, 5}));
  EXPECT_LT(ran.points.size(), 110u) << "17 steps of at most four neighbours, and eight batches without a better one";
  for (size_t at = 1; at < ran.points.size(); ++at)
    EXPECT_TRUE(std::ranges::any_of(ran.points.begin(), ran.points.begin() + static_cast<std::ptrdiff_t>(at),
                                    [&](size_t one) {
                                      return (grid.at(one)[0] == grid.at(ran.points[at])[0]) !=
                                             (grid.at(one)[1] == grid.at(ran.points[at])[1]);
                                    }))
        << "a neighbour of what was tried";
}

TEST(LocalTest, WithABudgetItTriesEveryPointIfItMay) {
  const Grid grid = grid_of({6, 6, 6});
  auto strategy = strategy_without_model(StrategyKind::local, grid, 3, {}, true);
  EXPECT_THAT(run(std::move(strategy), grid, bowl({0, 0, 0}), 1000).points, SizeIs(216));
}

TEST(LearningTest, WithABudgetItTriesEveryPointIfItMay) {
  const Grid grid = grid_of({6, 6, 3});
  auto strategy = strategy_without_model(StrategyKind::learning, grid, 3, {}, true);
  EXPECT_THAT(run(std::move(strategy), grid, bowl({0, 0, 0}), 1000).points, SizeIs(108));
}

TEST(LearningTest, IsTheSameForASeedAndStartsFromItsSeeds) {
  const Grid grid = grid_of({8, 8, 8});
  const auto tried = [&](uint64_t seed) {
    const std::vector<size_t> seeds{7, 3};
    return run(std::make_unique<Learning>(grid, seed, seeds, Learning::persistent()), grid, bowl({5, 1, 2}), 60).points;
  };
  EXPECT_EQ(tried(1), tried(1));
  EXPECT_NE(tried(1), tried(2));
  const std::vector<size_t> first = tried(2);
  ASSERT_GE(first.size(), 2u);
  EXPECT_EQ(first[0], 7u);
  EXPECT_EQ(first[1], 3u);
}

// What one axis says of the others is learnt: the fast points lie where two axes are equal, far from each other.
TEST(LearningTest, FindsWhatLocalNeighboursDoNotLeadTo) {
  const Grid grid = grid_of({12, 12, 4});
  const Landscape landscape = [](const std::vector<size_t>& at) -> std::optional<double> {
    const double apart = std::abs(static_cast<double>(at[0]) - static_cast<double>(at[1]));
    return 10 + 3 * apart - 0.4 * static_cast<double>(at[0]) + (at[2] == 1 ? 0.0 : 2.0);
  };
  double learning = 0, random = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    learning += least(
        run(std::make_unique<Learning>(grid, seed, std::vector<size_t>{}, Learning::persistent()), grid, landscape, 60),
        grid, landscape);
    random += least(run(std::make_unique<RandomOrder>(grid, seed), grid, landscape, 60), grid, landscape);
  }
  EXPECT_LT(learning / 10, 6.8) << "the best has 5.6";
  EXPECT_GT(random / 10, 7);
}

// Each of five knobs has its own slope, and they add up.
TEST(LearningTest, FindsABowlOfManyKnobsEarly) {
  const Grid grid = grid_of({8, 8, 8, 8, 4});
  const Landscape landscape = bowl({5, 2, 6, 1, 3});
  double learning = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed)
    learning += least(
        run(std::make_unique<Learning>(grid, seed, std::vector<size_t>{}, Learning::persistent()), grid, landscape, 50),
        grid, landscape);
  EXPECT_LT(learning / 10, 10.5) << "of 16,384 points the best has 10";
}

TEST(LearningTest, EndsWhereNothingGainsAndGoesOnWhileNothingIsCorrect) {
  const Grid flat = grid_of({20, 20});
  const Ran ran = run(std::make_unique<Learning>(flat, 1, std::vector<size_t>{}, Learning::Settings{}), flat,
                      [](const std::vector<size_t>&) { return 1.0; });
  EXPECT_THAT(ran.points, SizeIs(8 + 2 * 16)) << "its start, and 16 batches without a new best";
  const Grid grid = grid_of({40});
  const Landscape rare = [](const std::vector<size_t>& at) -> std::optional<double> {
    if (at[0] < 39) return std::nullopt;
    return 1.0;
  };
  EXPECT_EQ(run(strategy_without_model(StrategyKind::learning, grid, 3, {}, false), grid, rare).best, 39u);
}

TEST(StrategyTest, ABatchIsAsLargeAsWhatRunsAtOnce) {
  const Grid grid = grid_of({7, 7, 7, 7});
  for (const StrategyKind kind : {StrategyKind::local, StrategyKind::evolutionary}) {
    const auto largest = [&](size_t at_once) {
      const Ran ran = run(strategy_without_model(kind, grid, 1, {}, false, at_once), grid, bowl({3, 3, 3, 3}), 300);
      return *std::max_element(ran.batches.begin() + 1, ran.batches.end());  // the first one starts the search
    };
    const size_t usual = largest(1);
    EXPECT_LE(usual, 8u);
    EXPECT_EQ(largest(3), usual);
    EXPECT_GT(largest(24), usual);
  }
}

TEST(LocalTest, GoesOnAtRandomWhileNothingIsCorrect) {
  const Grid grid = grid_of({40});
  const Landscape landscape = [](const std::vector<size_t>& at) -> std::optional<double> {
    if (at[0] < 39) return std::nullopt;
    return 1.0;
  };
  auto strategy = strategy_without_model(StrategyKind::local, grid, 3, {}, false);
  EXPECT_EQ(run(std::move(strategy), grid, landscape).best, 39u);
}

TEST(EvolutionaryTest, GoesOnAtRandomWhileNothingIsCorrect) {
  const Grid grid = grid_of({5, 5});
  const Landscape landscape = [](const std::vector<size_t>& at) -> std::optional<double> {
    if (at != std::vector<size_t>{4, 4}) return std::nullopt;
    return 1.0;
  };
  Evolutionary::Settings settings;
  settings.start = settings.population = 3;
  settings.patience = 20;
  EXPECT_EQ(run(evolutionary(grid, 5, {}, settings), grid, landscape).best, grid.find({4, 4}));
}

// The model may be asked for every point.
std::unique_ptr<Strategy> guided(const Grid& grid, std::vector<size_t> seeds = {}, ModelGuided::Settings settings = {},
                                 uint64_t seed = 1) {
  std::vector<size_t> all(grid.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return std::make_unique<ModelGuided>(grid, seed, std::move(seeds), std::move(all), settings);
}

// The model has ranked every point before.
std::unique_ptr<Strategy> ranked(const Grid& grid, const Landscape& model, std::vector<size_t> seeds = {}) {
  auto strategy =
      std::make_unique<ModelGuided>(grid, 1, std::move(seeds), std::vector<size_t>{}, ModelGuided::Settings{});
  for (size_t point = 0; point < grid.size(); ++point) strategy->modelled(point, model(grid.at(point)));
  return strategy;
}

TEST(ModelGuidedTest, AGoodModelNeedsFewRuns) {
  const Grid grid = grid_of({4, 4, 4, 3, 2, 2});
  const Landscape landscape = bowl({0, 2, 3, 1, 0, 1});
  const Ran ran = run(ranked(grid, landscape), grid, landscape);
  EXPECT_EQ(ran.points.front(), grid.find({0, 2, 3, 1, 0, 1}));
  EXPECT_EQ(ran.best, ran.points.front());
  EXPECT_THAT(ran.batches, SizeIs(1 + ModelGuided::Settings{}.patience)) << "what brings no better one ends it";
}

TEST(ModelGuidedTest, TheModelRanksWhileTheDeviceRuns) {
  const Grid grid = grid_of({8, 8, 8, 4});
  const Landscape landscape = bowl({1, 6, 3, 2});
  ModelGuided::Settings settings = ModelGuided::persistent();
  settings.modelled = 64;
  const Ran ran = run(guided(grid, {5}, settings), grid, landscape, 12, {}, landscape);
  EXPECT_EQ(ran.batches.front(), settings.start) << "nothing is predicted yet";
  EXPECT_EQ(ran.points.front(), 5u);
  EXPECT_EQ(ran.modelled.size(), 64 * ran.batches.size()) << "of 2,048";
  EXPECT_EQ(std::set<size_t>(ran.modelled.begin(), ran.modelled.end()).size(), ran.modelled.size());
  const auto mean_us = [&](size_t from, size_t to) {
    double sum = 0;
    for (size_t at = from; at < to; ++at) sum += *landscape(grid.at(ran.modelled[at]));
    return sum / static_cast<double>(to - from);
  };
  EXPECT_LT(mean_us(64, 96), mean_us(0, 64) / 2) << "half of each round are those expected to be fast";
  EXPECT_LT(least(ran, grid, landscape), 14) << "10 is the best";
}

TEST(ModelGuidedTest, TheModelIsNotAskedForMoreThanItMayAndEndsWithTheSearch) {
  const Grid grid = grid_of({6, 6});
  const auto strategy = std::make_unique<ModelGuided>(grid, 1, std::vector<size_t>{}, std::vector<size_t>{3, 9, 12},
                                                      ModelGuided::Settings{});
  History history(grid.size());
  EXPECT_THAT(strategy->to_model(), testing::UnorderedElementsAre(3, 9, 12));
  EXPECT_THAT(strategy->to_model(), IsEmpty());
  ModelGuided::Settings brief;
  brief.modelled = 1;
  brief.patience = 1;
  const auto over = guided(grid, {}, brief);
  for (const size_t point : over->propose(history)) history.tell({point, 10});
  EXPECT_THAT(over->to_model(), SizeIs(1));
  over->propose(history);
  EXPECT_THAT(over->to_model(), SizeIs(1));
  EXPECT_THAT(over->propose(history), IsEmpty());
  EXPECT_THAT(over->to_model(), IsEmpty());
}

TEST(ModelGuidedTest, TheDeviceDecides) {
  const Grid grid = grid_of({8});
  // The model's favourite is wrong, and its second choice is slow.
  const Landscape model = [](const std::vector<size_t>& at) { return 1.0 + static_cast<double>(at[0]); };
  const Landscape landscape = [](const std::vector<size_t>& at) -> std::optional<double> {
    if (at[0] == 0) return std::nullopt;
    return at[0] == 2 ? 10.0 : 20.0;
  };
  EXPECT_EQ(run(ranked(grid, model), grid, landscape).best, 2u);
}

// The model takes one value of a knob for twice as fast as it is, so that half of all points come before the best one.
TEST(ModelGuidedTest, LearnsWhatTheModelMisjudges) {
  const Grid grid = grid_of({8, 8, 4, 2});
  const Landscape landscape = bowl({5, 2, 1, 0});
  const Landscape model = [&](const std::vector<size_t>& at) { return *landscape(at) * (at[3] == 1 ? 0.25 : 1); };
  size_t by_the_model = 0;
  for (size_t point = 0; point < grid.size(); ++point)
    by_the_model += *model(grid.at(point)) < *model({5, 2, 1, 0}) ? 1 : 0;
  ASSERT_GT(by_the_model, 40u) << "before the best one in the model's order";
  const Ran ran = run(ranked(grid, model), grid, landscape, 40);
  const auto found = std::ranges::find(ran.points, *grid.find({5, 2, 1, 0})) - ran.points.begin();
  EXPECT_LT(found, 16);
}

TEST(ModelGuidedTest, AModelThatSaysNothingCostsLittle) {
  const Grid grid = grid_of({6, 6, 6, 4});
  const Landscape landscape = bowl({4, 1, 3, 2});
  const Landscape noise = [](const std::vector<size_t>& at) {
    return 10.0 + static_cast<double>((at[0] * 7 + at[1] * 11 + at[2] * 13 + at[3] * 5) % 17);
  };
  double with_it = 0, random = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    with_it +=
        least(run(guided(grid, {}, ModelGuided::persistent(), seed), grid, landscape, 60, {}, noise), grid, landscape) /
        10;
    random += least(run(std::make_unique<RandomOrder>(grid, seed), grid, landscape, 60), grid, landscape) / 10;
  }
  EXPECT_LT(with_it, random - 2);
}

TEST(ModelGuidedTest, SeedsJoinTheFirstBatch) {
  const Grid grid = grid_of({20});
  const Landscape model = [](const std::vector<size_t>& at) { return 1.0 + static_cast<double>(at[0]); };
  const Ran ran = run(ranked(grid, model, {17, 2}), grid, bowl({17}));
  EXPECT_EQ(std::vector<size_t>(ran.points.begin(), ran.points.begin() + 4), (std::vector<size_t>{17, 2, 0, 1}));
  EXPECT_EQ(ran.best, 17u);
}

TEST(ModelGuidedTest, WithABudgetItTriesEveryPointIfItMay) {
  const Grid grid = grid_of({6, 6, 3});
  const Ran ran = run(guided(grid, {}, ModelGuided::persistent()), grid, bowl({0, 0, 0}), 1000, {}, bowl({1, 1, 1}));
  EXPECT_THAT(ran.points, SizeIs(108));
  EXPECT_THAT(ran.modelled, SizeIs(108));
}

TEST(ModelGuidedTest, GoesOnWhileNothingIsCorrect) {
  const Grid grid = grid_of({30});
  const Landscape landscape = [](const std::vector<size_t>& at) -> std::optional<double> {
    if (at[0] < 29) return std::nullopt;
    return 1.0;
  };
  const Landscape same = [](const std::vector<size_t>&) { return 1.0; };
  EXPECT_EQ(run(ranked(grid, same), grid, landscape).best, 29u);
  const Landscape none = [](const std::vector<size_t>&) { return std::optional<double>(); };
  EXPECT_EQ(run(guided(grid), grid, landscape, 0, {}, none).best, 29u) << "the model rejects everything";
}

// The wanted points are the first half of the grid, so half of the random ones are not among them.
TEST(BatchTest, TheLongerNoBestComesTheMoreIsRandomUpToAShare) {
  const Grid grid = grid_of({600});
  std::vector<size_t> wanted(300);
  std::iota(wanted.begin(), wanted.end(), size_t{0});
  const auto strays = [&](size_t without_best, size_t one_in) {
    const History history(grid.size());
    Random random(1);
    std::vector<size_t> batch;
    fill_warily(batch, 200, grid, history, random, wanted, without_best, one_in);
    EXPECT_THAT(batch, SizeIs(200));
    return static_cast<double>(std::ranges::count_if(batch, [](size_t point) { return point >= 300; }));
  };
  EXPECT_EQ(strays(0, 2), 0);
  EXPECT_NEAR(strays(8, 2), 12, 10) << "a quarter of the way: one in eight is random";
  EXPECT_NEAR(strays(32, 2), 50, 20);
  EXPECT_NEAR(strays(1000, 2), 50, 20);
  EXPECT_NEAR(strays(1000, 10), 10, 8);
}

TEST(SearchTest, ABudgetCutsTheLastBatch) {
  const Grid grid = grid_of({9, 9});
  const Ran ran = run(evolutionary(grid, 1), grid, bowl({8, 8}), 11);
  EXPECT_THAT(ran.batches, ElementsAre(8, 3));
}

TEST(SearchTest, AnEmptyGridIsOverAtOnce) {
  const Grid grid;
  EXPECT_THAT(run(evolutionary(grid, 1), grid, bowl({})).points, IsEmpty());
  EXPECT_THAT(run(guided(grid), grid, bowl({})).points, IsEmpty());
}

}  // namespace
}  // namespace attnscope::search
