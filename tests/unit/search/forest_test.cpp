#include "search/forest.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope::search {
namespace {

// Every third point of a grid of 9 by 9, with a function of its place.
class ForestTest : public testing::Test {
 protected:
  static double value(size_t x, size_t y) { return x > 4 ? 5.0 + static_cast<double>(y) : 1.0; }
  Forest learnt(uint64_t seed) const {
    std::vector<uint32_t> positions;
    std::vector<double> values;
    for (uint32_t at = 0; at < 81; at += 3) {
      positions.insert(positions.end(), {at % 9, at / 9});
      values.push_back(value(at % 9, at / 9));
    }
    Forest forest(20);
    Random random(seed);
    forest.learn(positions, 2, values, random);
    return forest;
  }
};

TEST_F(ForestTest, KnowsWhatItWasTaughtAndWhatLiesBetween) {
  const Forest forest = learnt(1);
  double off = 0;
  for (size_t x = 0; x < 9; ++x)
    for (size_t y = 0; y < 9; ++y) {
      const Forest::Prediction seen = forest.predict({x, y});
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
  EXPECT_GT(forest.predict({5, 8}).spread, forest.predict({1, 1}).spread + 0.1) << "between a 1 and a 13, and all 1";
}

TEST_F(ForestTest, IsTheSameForASeed) {
  EXPECT_EQ(learnt(3).predict({5, 4}).mean, learnt(3).predict({5, 4}).mean);
  EXPECT_NE(learnt(3).predict({5, 4}).mean, learnt(4).predict({5, 4}).mean);
}

TEST(Forest, OfOnePointIsThatPoint) {
  Forest forest(5);
  Random random(1);
  forest.learn({2, 7}, 2, {3.5}, random);
  EXPECT_EQ(forest.predict({0, 0}).mean, 3.5);
  EXPECT_EQ(forest.predict({0, 0}).spread, 0);
}

TEST(Forest, RenewsSomeTreesInTurn) {
  Forest forest(20);
  EXPECT_FALSE(forest.has_learnt());
  Random random(1);
  forest.learn({2, 7}, 2, {1}, random);
  EXPECT_TRUE(forest.has_learnt());
  forest.renew(5, {2, 7}, 2, {3}, random);
  EXPECT_EQ(forest.predict({2, 7}).mean, 1.5) << "5 of 20 trees";
  for (int rest = 0; rest < 3; ++rest) forest.renew(5, {2, 7}, 2, {3}, random);
  EXPECT_EQ(forest.predict({2, 7}).mean, 3) << "each of them";
  forest.renew(5, {2, 7}, 2, {5}, random);
  EXPECT_EQ(forest.predict({2, 7}).mean, 3.5) << "again from the first one";
}

}  // namespace
}  // namespace attnscope::search
