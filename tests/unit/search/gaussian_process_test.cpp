#include "search/gaussian_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/forest.h"

namespace attnscope::search {
namespace {

std::vector<size_t> up_to(size_t count) {
  std::vector<size_t> points(count);
  std::iota(points.begin(), points.end(), size_t{0});
  return points;
}

// The points of a grid with so many values of each axis.
Grid grid_of(size_t side, size_t axes) {
  std::vector<std::vector<size_t>> points{{}};
  for (size_t axis = 0; axis < axes; ++axis) {
    std::vector<std::vector<size_t>> longer;
    for (const auto& point : points)
      for (size_t at = 0; at < side; ++at) longer.push_back(point), longer.back().push_back(at);
    points = std::move(longer);
  }
  return Grid(std::move(points));
}

// A grid of 9 by 9.
class GaussianProcessTest : public testing::Test {
 protected:
  static constexpr size_t kSide = 9;
  // A slope along one axis and a valley along the other, which add up.
  double value(size_t point) const {
    const auto x = static_cast<double>(point % kSide), y = static_cast<double>(point / kSide);
    return 5 + x + (y - 4) * (y - 4) / 4;
  }
  void teach(GaussianProcess& process, size_t every, std::vector<size_t> watched = {}) {
    if (watched.empty()) watched = up_to(places_.points());
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

  Places places_{grid_of(kSide, 2)};
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
  process.fit(points_, values_, up_to(places_.points()), random_);
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

TEST_F(GaussianProcessTest, EqualValuesSayNothingOfTheLengthScales) {
  std::vector<double> means;
  for (const uint64_t seed : {1, 2}) {
    GaussianProcess process(places_);
    Random random(seed);
    points_ = {30, 31, 60};
    process.fit(points_, {2, 2, 2}, {2}, random);
    points_.push_back(4);
    process.learn(points_, {2, 2, 2, 1});
    means.push_back(process.predict(2).mean);
  }
  EXPECT_EQ(means[0], means[1]);
}

// Many equal values fit any length scales and no noise. With such ones the next values would be nothing but rounding
// errors.
TEST(GaussianProcessPlateauTest, AfterManyEqualValuesItSeesThoseThatAreLess) {
  const Places places(grid_of(8, 3));
  for (const double tilt : {0.0, 2e-5})  // by as much the equal ones differ, along an axis
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      GaussianProcess process(places);
      Random random(seed);
      std::vector<size_t> order = up_to(places.points()), points;
      random.shuffle(order);
      std::vector<double> values;
      const auto next = [&](double value) {
        points.push_back(order[points.size()]);
        values.push_back(value + tilt * places.of(points.back())[0]);
        if (process.due(values.size())) process.fit(points, values, up_to(places.points()), random);
        process.learn(points, values);
      };
      for (size_t at = 0; at < 58; ++at) next(5);
      for (const double value : {4.95, 4.9, 4.85, 4.8}) next(value);
      const double beyond = tilt > 0 ? 0.2 : 0.1;  // it goes on where values fall, the more so the smoother they are
      for (const size_t point : order) {
        EXPECT_GT(process.predict(point).mean, 4.8 - beyond);
        EXPECT_LT(process.predict(point).mean, 5 + beyond);
      }
      for (size_t at = points.size(); at < order.size(); ++at) EXPECT_GT(process.predict(order[at]).spread, 1e-4);
    }
}

// What it conditions on stays small however many values are known, and it fits ever less often.
TEST(GaussianProcessRowsTest, AreFewerThanTwiceTheMost) {
  const Places places(grid_of(20, 2));
  GaussianProcess process(places, 20);
  Random random(1);
  std::vector<size_t> points;
  std::vector<double> values;
  size_t fits = 0, most = 0;
  for (size_t point = 0; point < places.points(); ++point) {
    points.push_back(point);
    values.push_back(static_cast<double>(point % 7));
    if (process.due(values.size())) process.fit(points, values, {0, 399}, random), ++fits;
    process.learn(points, values);
    most = std::max(most, process.rows());
  }
  EXPECT_EQ(most, 39u);
  EXPECT_GE(fits, 400u / 20);
  EXPECT_LE(fits, 400u / 20 + 6) << "at first after a few values";
}

// One value after the other, over several blocks of watched points, and all at once.
TEST(GaussianProcessBlocksTest, OneByOneIsAsAllAtOnce) {
  const Places places(grid_of(40, 2));
  const auto value = [&](size_t point) { return std::sin(places.of(point)[0] / 6.0) + places.of(point)[1] / 20.0; };
  std::vector<size_t> order = up_to(places.points()), points;
  Random(3).shuffle(order);
  std::vector<double> values;
  for (size_t at = 0; at < 60; ++at) {
    points.push_back(order[at]);
    values.push_back(value(order[at]));
  }
  const auto first = [](const auto& all, size_t count) {
    return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  };
  GaussianProcess one_by_one(places), at_once(places);
  Random random(1), same(1);
  const auto expect_alike = [&](const std::vector<size_t>& watched) {
    for (const size_t point : watched) {
      EXPECT_NEAR(one_by_one.predict(point).mean, at_once.predict(point).mean, 1e-4);
      EXPECT_NEAR(one_by_one.predict(point).spread, at_once.predict(point).spread, 1e-4);
    }
  };
  one_by_one.fit(first(points, 30), first(values, 30), up_to(places.points()), random);
  at_once.fit(first(points, 30), first(values, 30), up_to(places.points()), same);
  for (size_t count = 30; count <= 60; ++count) one_by_one.learn(first(points, count), first(values, count));
  at_once.learn(points, values);
  expect_alike(up_to(places.points()));
  EXPECT_NEAR(at_once.predict(order[700]).mean, value(order[700]), 0.2) << "values go from -1 to 3";

  const std::vector<size_t> part = first(order, 300);  // not whole blocks, and in another order
  one_by_one.fit(points, values, part, random);
  at_once.fit(points, values, up_to(places.points()), same);
  one_by_one.learn(points, values);
  at_once.learn(points, values);
  EXPECT_FALSE(one_by_one.watches(order[300]));
  expect_alike(part);
}

}  // namespace
}  // namespace attnscope::search
