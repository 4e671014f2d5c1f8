#include "search/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace attnscope::search {
namespace {

// A grid of `side` by `side`, whose every third point is taught.
class GaussianProcessTest : public testing::Test {
 protected:
  static constexpr size_t kSide = 9;
  static Grid grid() {
    std::vector<std::vector<size_t>> points;
    for (size_t at = 0; at < kSide * kSide; ++at) points.push_back({at % kSide, at / kSide});
    return Grid(std::move(points));
  }
  // A slope along one axis and a valley along the other, which add up.
  double value(size_t point) const {
    const auto x = static_cast<double>(point % kSide), y = static_cast<double>(point / kSide);
    return 5 + x + (y - 4) * (y - 4) / 4;
  }
  void teach(GaussianProcess& process, size_t every, std::vector<size_t> watched = {}) {
    if (watched.empty()) {
      watched.resize(places_.points());
      std::iota(watched.begin(), watched.end(), size_t{0});
    }
    for (size_t point = 0; point < places_.points(); point += every) {
      points_.push_back(point);
      values_.push_back(value(point));
    }
    process.fit(points_, values_, std::move(watched), random_);
    process.learn(points_, values_);
  }
  double off(const GaussianProcess& process) const {
    double sum = 0;
    for (size_t point = 0; point < places_.points(); ++point)
      sum += std::abs(process.predict(point).mean - value(point));
    return sum / static_cast<double>(places_.points());
  }

  Places places_{grid()};
  Random random_{1};
  std::vector<size_t> points_;
  std::vector<double> values_;
};

TEST_F(GaussianProcessTest, SeesASlopeBetweenAFewValues) {
  GaussianProcess process(places_);
  teach(process, 5);
  EXPECT_LT(off(process), 0.3) << "values go from 5 to 17";
  Forest forest(places_, 20);
  forest.learn(points_, values_, random_);
  double by_forest = 0;
  for (size_t point = 0; point < places_.points(); ++point)
    by_forest += std::abs(forest.predict(point).mean - value(point)) / static_cast<double>(places_.points());
  EXPECT_LT(off(process), by_forest / 2);
}

TEST_F(GaussianProcessTest, DoubtsTheMoreTheFartherItIsFromWhatItKnows) {
  GaussianProcess process(places_);
  points_ = {0, 1, 9, 10};
  values_ = {1, 2, 1.5, 3};
  std::vector<size_t> all(places_.points());
  std::iota(all.begin(), all.end(), size_t{0});
  process.fit(points_, values_, all, random_);
  process.learn(points_, values_);
  EXPECT_LT(process.predict(0).spread, process.predict(2).spread);
  EXPECT_LT(process.predict(2).spread, process.predict(80).spread);
}

// In between two fits values are added at little cost, and the result is that of all values at once with the same
// lengths.
TEST_F(GaussianProcessTest, LearnsMoreValuesWithoutANewFit) {
  GaussianProcess process(places_);
  EXPECT_TRUE(process.due(1));
  teach(process, 7);
  EXPECT_FALSE(process.due(points_.size() + 1));
  EXPECT_TRUE(process.due(2 * points_.size()));
  EXPECT_GT(std::abs(process.predict(40).mean - 20), 5);
  points_.push_back(40);
  values_.push_back(20);
  process.learn(points_, values_);
  EXPECT_NEAR(process.predict(40).mean, 20, 3) << "a value far from what was expected, some of which may be noise";
  for (double& value : values_) value += 100;
  const double before = process.predict(33).mean;
  process.learn(points_, values_);
  EXPECT_NEAR(process.predict(33).mean, before + 100, 1e-3) << "the values of the same points may change";
}

TEST_F(GaussianProcessTest, PredictsOnlyWhatItWatches) {
  GaussianProcess all(places_), some(places_);
  teach(all, 4);
  points_.clear(), values_.clear(), random_ = Random(1);
  teach(some, 4, {3, 70});
  EXPECT_TRUE(some.watches(70));
  EXPECT_FALSE(some.watches(4));
  EXPECT_NEAR(some.predict(70).mean, all.predict(70).mean, 1e-6);
}

TEST_F(GaussianProcessTest, OneValueAndEqualValuesAreThose) {
  GaussianProcess one(places_), equal(places_);
  points_ = {30};
  values_ = {3.5};
  one.fit(points_, values_, {30, 2}, random_);
  one.learn(points_, values_);
  EXPECT_NEAR(one.predict(2).mean, 3.5, 1e-6);
  points_ = {30, 31, 60};
  values_ = {2, 2, 2};
  equal.fit(points_, values_, {30, 2}, random_);
  equal.learn(points_, values_);
  EXPECT_NEAR(equal.predict(2).mean, 2, 1e-6);
  EXPECT_TRUE(std::isfinite(equal.predict(2).spread));
}

}  // namespace
}  // namespace attnscope::search
