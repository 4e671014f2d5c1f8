#include "search/halving.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace attnscope::search {
namespace {

using Points = std::vector<size_t>;

Grid line_of(size_t points) {
  std::vector<std::vector<size_t>> positions;
  for (size_t at = 0; at < points; ++at) positions.push_back({at});
  return Grid(std::move(positions));
}

TEST(HalvingTest, TheTimeDoublesWhileThereAreHalves) {
  EXPECT_EQ(halving_rounds(160, 30, 2000), (std::vector<int64_t>{30, 60, 120, 240, 480, 960, 2000}));
  EXPECT_EQ(halving_rounds(5, 30, 2000), (std::vector<int64_t>{30, 60, 120, 2000})) << "5, 3, 2, 1";
  EXPECT_EQ(halving_rounds(1, 30, 2000), std::vector<int64_t>{2000});
  EXPECT_EQ(halving_rounds(100, 30, 20), std::vector<int64_t>{20}) << "a shorter time is the only round";
}

TEST(HalvingTest, TheFasterHalfGoesOnAndNothingRejected) {
  const auto all_apart = [](size_t, size_t) { return true; };
  EXPECT_EQ(better_half({{0, 50}, {1, 10}, {2, {}}, {3, 40}, {4, 20}}, all_apart), (Points{1, 4}));
  EXPECT_EQ(better_half({{0, 50}, {1, 10}, {2, 30}}, all_apart), (Points{1, 2})) << "rounded up";
  EXPECT_EQ(better_half({{7, {}}}, all_apart), Points{});
  EXPECT_EQ(better_half({{7, 5}}, all_apart), Points{7});
}

TEST(HalvingTest, WhatTiesWithTheLastOfTheHalfGoesOn) {
  // Times differ if they are more than 5 apart.
  const std::vector<Outcome> outcomes{{0, 10}, {1, 20}, {2, 24}, {3, 40}};
  const auto apart = [&](size_t a, size_t b) { return std::abs(*outcomes[a].us - *outcomes[b].us) > 5; };
  EXPECT_EQ(better_half(outcomes, apart), (Points{0, 1, 2}));
  EXPECT_EQ(better_half({{0, 10}, {1, 10}, {2, 10}, {3, 11}}, [](size_t, size_t) { return true; }), (Points{0, 1, 2}))
      << "equal times tie, whatever is said of them";
  EXPECT_EQ(better_half(outcomes, {}), (Points{0, 1})) << "nothing is known of ties";
}

TEST(HalvingTest, ABudgetDrawsWhoBegins) {
  const Grid grid = line_of(50);
  EXPECT_EQ(entrants(grid, 1, 0).size(), 50u);
  EXPECT_EQ(entrants(grid, 1, 90).size(), 50u);
  const Points drawn = entrants(grid, 1, 8);
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 8u);
  EXPECT_EQ(drawn, entrants(grid, 1, 8));
  EXPECT_NE(drawn, entrants(grid, 2, 8));
}

}  // namespace
}  // namespace attnscope::search
