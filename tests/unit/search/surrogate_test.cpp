#include "search/surrogate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace attnscope::search {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

Grid grid_of(size_t width, size_t height) {
  std::vector<std::vector<size_t>> points;
  for (size_t at = 0; at < width * height; ++at) points.push_back({at % width, at / width});
  return Grid(std::move(points));
}

std::vector<size_t> all(const Grid& grid) {
  std::vector<size_t> points(grid.size());
  std::iota(points.begin(), points.end(), size_t{0});
  return points;
}

// A slope along both axes: the farther along, the faster.
double slope(const Grid& grid, size_t point) {
  return std::exp(5 - 0.2 * static_cast<double>(grid.at(point)[0]) - 0.3 * static_cast<double>(grid.at(point)[1]));
}

// Every `every`th point has run, but none of the second half.
History history_of(const Grid& grid, size_t every) {
  History history(grid.size());
  for (size_t point = 0; point < grid.size() / 2; point += every) history.tell({point, slope(grid, point)});
  return history;
}

TEST(SurrogateTest, TheProcessFollowsASlopeBeyondWhatRan) {
  const Grid grid = grid_of(10, 10);
  Surrogate surrogate(grid);
  Random random(1);
  surrogate.learn(history_of(grid, 3), random);
  EXPECT_GE(grid.at(surrogate.by_process(all(grid), 1).at(0))[1], 6u);
  EXPECT_GE(grid.at(surrogate.by_process(all(grid), 1).at(0))[0], 6u);
}

TEST(SurrogateTest, BothAreAskedInTurn) {
  const Grid grid = grid_of(10, 10);
  Surrogate surrogate(grid);
  Random random(1);
  surrogate.learn(history_of(grid, 3), random);
  const std::vector<size_t> process = surrogate.by_process(all(grid), 4), forests = surrogate.by_forests(all(grid), 4);
  ASSERT_THAT(process, SizeIs(4));
  ASSERT_THAT(forests, SizeIs(4));
  EXPECT_NE(process[0], forests[0]);
  EXPECT_THAT(surrogate.in_turn(all(grid), 2), ElementsAre(process[0], forests[0]));
  EXPECT_THAT(surrogate.in_turn(all(grid), 2), ElementsAre(forests[0], process[0]));
  const std::vector<size_t> more = surrogate.in_turn(all(grid), 4);
  EXPECT_THAT(more, SizeIs(4));
  EXPECT_EQ(std::set<size_t>(more.begin(), more.end()).size(), 4u) << "none twice";
}

// A model that is right, and one that is wrong about everything.
TEST(SurrogateTest, PredictionsCountAsMuchAsTheyAgreed) {
  const Grid grid = grid_of(10, 10);
  const auto row_of_best = [&](double sign) {
    Surrogate surrogate(grid);
    Random random(1);
    std::vector<double> logs;
    for (size_t point = 0; point < grid.size(); ++point) logs.push_back(sign * std::log(slope(grid, point)));
    surrogate.predict_from(logs);
    surrogate.learn(history_of(grid, 7), random);
    return std::pair(grid.at(surrogate.by_forests(all(grid), 1).at(0))[1],
                     grid.at(surrogate.by_process(all(grid), 1).at(0))[1]);
  };
  EXPECT_EQ(row_of_best(1), std::pair(size_t{9}, size_t{9}));
  EXPECT_GT(row_of_best(-1).second, 4u) << "not where the model says";
}

TEST(SurrogateTest, OfALargeSpaceTheProcessWatchesAPartWithTheBest) {
  const Grid grid = grid_of(200, 100);
  Surrogate surrogate(grid);
  Random random(1);
  surrogate.learn(history_of(grid, 500), random);
  const size_t favourite = surrogate.by_forests(all(grid), 1).at(0);
  const std::vector<size_t> watched = surrogate.by_process(all(grid), grid.size());
  EXPECT_GT(watched.size(), 6'000u);
  EXPECT_LE(watched.size(), 12'000u);
  EXPECT_THAT(watched, Contains(favourite));
}

}  // namespace
}  // namespace attnscope::search
