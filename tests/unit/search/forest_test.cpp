#include "search/forest.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope::search {
namespace {

Grid square(size_t side) {
  std::vector<std::vector<size_t>> points;
  for (size_t at = 0; at < side * side; ++at) points.push_back({at % side, at / side});
  return Grid(std::move(points));
}

// Every third point of a grid of 9 by 9, with a function of its place.
class ForestTest : public testing::Test {
 protected:
  static double value(size_t x, size_t y) { return x > 4 ? 5.0 + static_cast<double>(y) : 1.0; }
  Forest learnt(uint64_t seed) const {
    std::vector<size_t> points;
    std::vector<double> values;
    for (size_t at = 0; at < 81; at += 3) {
      points.push_back(at);
      values.push_back(value(at % 9, at / 9));
    }
    Forest forest(places_, 20);
    Random random(seed);
    forest.learn(points, values, random);
    return forest;
  }
  static size_t at(size_t x, size_t y) { return y * 9 + x; }

  Places places_{square(9)};
};

TEST_F(ForestTest, KnowsWhatItWasTaughtAndWhatLiesBetween) {
  const Forest forest = learnt(1);
  double off = 0;
  for (size_t x = 0; x < 9; ++x)
    for (size_t y = 0; y < 9; ++y) {
      const Prediction seen = forest.predict(at(x, y));
      if (x % 3 == 0) {  // 9 is a multiple of 3, so those are the points that were taught
        EXPECT_NEAR(seen.mean, value(x, y), 1e-9);
        EXPECT_NEAR(seen.spread, 0, 1e-6);
      }
      off += std::abs(seen.mean - value(x, y)) / 81;
    }
  EXPECT_LT(off, 0.6) << "values go from 1 to 13";
}

TEST_F(ForestTest, DoubtsWhereItsPointsDiffer) {
  const Forest forest = learnt(1);
  EXPECT_GT(forest.predict(at(5, 8)).spread, forest.predict(at(1, 1)).spread + 0.1)
      << "between a 1 and a 13, and all 1";
}

TEST_F(ForestTest, IsTheSameForASeed) {
  EXPECT_EQ(learnt(3).predict(at(5, 4)).mean, learnt(3).predict(at(5, 4)).mean);
  EXPECT_NE(learnt(3).predict(at(5, 4)).mean, learnt(4).predict(at(5, 4)).mean);
}

TEST_F(ForestTest, OfOnePointIsThatPoint) {
  Forest forest(places_, 5);
  Random random(1);
  forest.learn({7}, {3.5}, random);
  EXPECT_EQ(forest.predict(0).mean, 3.5);
  EXPECT_EQ(forest.predict(0).spread, 0);
}

TEST_F(ForestTest, RenewsSomeTreesInTurn) {
  Forest forest(places_, 20);
  EXPECT_FALSE(forest.has_learnt());
  Random random(1);
  forest.learn({7}, {1}, random);
  EXPECT_TRUE(forest.has_learnt());
  forest.renew(5, {7}, {3}, random);
  EXPECT_EQ(forest.predict(7).mean, 1.5) << "5 of 20 trees";
  for (int rest = 0; rest < 3; ++rest) forest.renew(5, {7}, {3}, random);
  EXPECT_EQ(forest.predict(7).mean, 3) << "each of them";
  forest.renew(5, {7}, {5}, random);
  EXPECT_EQ(forest.predict(7).mean, 3.5) << "again from the first one";
}

// As with the level of a model's prediction, which changes when the model has said more.
TEST(Forest, ReadsPlacesAgain) {
  const Grid grid = square(2);
  Places places(grid, 1);
  places.set(3, 2, 5);
  Forest forest(places, 10);
  forest.read_again();  // nothing is learnt yet
  Random random(1);
  forest.learn({0, 3}, {1, 2}, random);
  EXPECT_EQ(forest.predict(3).mean, 2);
  for (size_t axis = 0; axis < 3; ++axis) places.set(3, axis, 0);
  EXPECT_EQ(forest.predict(3).mean, 2);
  forest.read_again();
  EXPECT_EQ(forest.predict(3).mean, 1) << "it is now where the other one was";
}

}  // namespace
}  // namespace attnscope::search
