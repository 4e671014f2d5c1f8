#include "catalog/fitted_extent.h"

#include <gmock/gmock.h>

#include <functional>

namespace attnscope::catalog {
namespace {

using testing::ElementsAre;

using Sizes = std::map<std::string, int64_t>;

// The points of an import's runs: the base, each size doubled, all larger.
std::vector<ExtentPoint> points_of(const Sizes& base, const std::function<int64_t(const Sizes&)>& extent) {
  std::vector<ExtentPoint> points{{base, extent(base)}};
  Sizes all = base;
  int64_t factor = 2;
  for (const auto& [name, value] : base) {
    Sizes one = base;
    one[name] *= 2;
    points.push_back({one, extent(one)});
    all[name] *= factor;
    factor = 5 - factor;
  }
  if (base.size() == 1) all.begin()->second = base.begin()->second * 3;
  points.push_back({all, extent(all)});
  return points;
}

std::optional<FittedExtent> fitted(const Sizes& base, const std::function<int64_t(const Sizes&)>& extent) {
  std::vector<std::string> names;
  for (const auto& [name, value] : base) names.push_back(name);
  return fit_extent(points_of(base, extent), names);
}

std::vector<std::string> shape(const Sizes& base, const std::function<int64_t(const Sizes&)>& extent) {
  const auto found = fitted(base, extent);
  return found ? found->shape : std::vector<std::string>{"none"};
}

const Sizes kMatrices{{"K", 64}, {"M", 128}, {"N", 256}};

TEST(FittedExtent, IsAProductOfTheSizesThatItGrowsWith) {
  EXPECT_THAT(shape(kMatrices, [](Sizes s) { return s["M"] * s["K"]; }), ElementsAre("K", "M"));
  EXPECT_THAT(shape(kMatrices, [](Sizes s) { return s["N"]; }), ElementsAre("N"));
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes s) { return s["n"] * s["n"]; }), ElementsAre("n", "n"));
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes s) { return 3 * s["n"]; }), ElementsAre("n", "3"));
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes) { return 100; }), ElementsAre("100"));
}

// As a dimension of its own; a length that depends on no size may be any number.
TEST(FittedExtent, AFactorIsAtMostAMillion) {
  constexpr int64_t kMost = int64_t{1} << 20;
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes s) { return kMost * s["n"]; }), ElementsAre("n", "1048576"));
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes s) { return (kMost + 1) * s["n"]; }), ElementsAre("1048577 * n"));
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes) { return 3 * kMost; }), ElementsAre("3145728"));
}

TEST(FittedExtent, AMarginIsNotNegative) {
  const Sizes base{{"M", 64}, {"N", 32}};
  EXPECT_THAT(shape(base, [](Sizes s) { return (s["M"] + 1) * (s["N"] + 2); }), ElementsAre("M + 1", "N + 2"));
  EXPECT_THAT(shape(base, [](Sizes s) { return (s["M"] - 1) * (s["N"] + 2); }), ElementsAre("none"));
  EXPECT_THAT(shape(base, [](Sizes s) { return (s["M"] + 2) * (s["N"] - 1); }), ElementsAre("none"));
}

// One element for each CTA, also where the last one is partly full.
TEST(FittedExtent, IsAShareOfASize) {
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes s) { return s["n"] / 256; }), ElementsAre("ceil_div(n, 256)"));
  EXPECT_THAT(shape({{"m", 64}, {"n", 512}}, [](Sizes s) { return s["m"] * s["n"] / 128; }),
              ElementsAre("ceil_div(m * n, 128)"));
}

TEST(FittedExtent, HasAMargin) {
  EXPECT_THAT(shape({{"n", 256}}, [](Sizes s) { return s["n"] + 6; }), ElementsAre("n + 6"));
  EXPECT_THAT(shape({{"h", 64}, {"w", 128}}, [](Sizes s) { return (s["h"] + 2) * (s["w"] + 4); }),
              ElementsAre("h + 2", "w + 4"));
  EXPECT_THAT(shape({{"k", 8}, {"n", 256}}, [](Sizes s) { return s["n"] + s["k"] - 1; }), ElementsAre("k + n - 1"));
  EXPECT_THAT(shape({{"k", 8}, {"n", 256}}, [](Sizes s) { return s["n"] - s["k"] + 1; }), ElementsAre("n - k + 1"));
}

TEST(FittedExtent, IsTheLesserOfTwoSizes) {
  const auto lesser = [](Sizes s) { return std::min(s["m"], s["n"]); };
  EXPECT_THAT(shape({{"m", 256}, {"n", 256}}, lesser), ElementsAre("min(m, n)"));
  EXPECT_THAT(shape({{"k", 8}, {"m", 128}, {"n", 192}}, lesser), ElementsAre("min(m, n)"));
}

// A stencil stores to the interior only; the array has its edge too.
TEST(FittedExtent, TakesTheEdgeThatNothingAccesses) {
  const auto found = fitted({{"h", 64}, {"w", 128}}, [](Sizes s) { return (s["h"] - 1) * s["w"] - 1; });
  ASSERT_TRUE(found);
  EXPECT_THAT(found->shape, ElementsAre("h", "w"));
  EXPECT_TRUE(found->edge);
  EXPECT_FALSE(fitted(kMatrices, [](Sizes s) { return s["M"] * s["N"]; })->edge);
}

// Powers that come from runs of one size each need a run that moves all.
TEST(FittedExtent, AProductNeedsACheck) {
  const auto product = [](Sizes s) { return s["m"] * s["n"]; };
  std::vector<ExtentPoint> points = points_of({{"m", 64}, {"n", 256}}, product);
  points.pop_back();
  EXPECT_FALSE(fit_extent(points, {"m", "n"}));
  std::vector<ExtentPoint> one = points_of({{"n", 256}}, [](Sizes s) { return s["n"]; });
  one.pop_back();
  EXPECT_FALSE(fit_extent(one, {"n"}));
}

TEST(FittedExtent, WhatNoFunctionGivesIsUnknown) {
  EXPECT_FALSE(fitted({{"n", 256}}, [](Sizes s) { return s["n"] == 256 ? 256 : s["n"] == 512 ? 700 : 5; }));
  EXPECT_FALSE(fitted({{"m", 128}, {"n", 256}}, [](Sizes s) { return s["m"] * s["n"] / 2 + s["n"] * 40; }));
  EXPECT_FALSE(fitted({{"n", 256}}, [](Sizes) { return 0; }));
}

// A tile that is larger than the base hides that the extent grows, unless the larger run shows it.
TEST(FittedExtent, EveryPointMustAgree) {
  const auto tiles = [](Sizes s) { return std::max<int64_t>(s["m"], 512) * s["k"]; };
  EXPECT_FALSE(fitted({{"k", 64}, {"m", 256}}, [&](Sizes s) { return s["k"] == 64 ? tiles(s) : tiles(s) + s["m"]; }));
  std::vector<ExtentPoint> points = points_of({{"m", 256}}, [&](Sizes s) { return std::max<int64_t>(s["m"], 512); });
  EXPECT_FALSE(fit_extent(points, {"m"})) << "the third run has 768";
}

// Without a run in which only that size differs, nothing says how the extent follows it.
TEST(FittedExtent, NeedsARunForEachSize) {
  std::vector<ExtentPoint> points = points_of({{"m", 64}, {"n", 256}}, [](Sizes s) { return s["m"]; });
  std::erase_if(points, [](const ExtentPoint& point) { return point.sizes.at("n") == 512; });
  EXPECT_FALSE(fit_extent(points, {"m", "n"}));
}

}  // namespace
}  // namespace attnscope::catalog
