#include "search/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/json.h"

namespace attnscope::search {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

// One axis with these times; 0: invalid.
Recorded space_of(const std::vector<double>& times) {
  Recorded space;
  std::vector<std::vector<size_t>> points;
  for (const double ms : times) {
    points.push_back({points.size()});
    space.runs.push_back({ms > 0 ? std::optional(ms) : std::nullopt});
  }
  space.knobs = {"K"};
  space.grid = Grid(std::move(points));
  return space;
}

// Proposes these points, one after the other.
class Fixed final : public Strategy {
 public:
  explicit Fixed(std::vector<size_t> points) : points_(std::move(points)) {}
  std::vector<size_t> propose(const History& history) override {
    const size_t at = history.outcomes().size();
    return at < points_.size() ? std::vector<size_t>{points_[at]} : std::vector<size_t>{};
  }

 private:
  std::vector<size_t> points_;
};

TEST(ReplayTest, RandomsExpectationIsTheMeanOverAllOrders) {
  // Of {1, 2, 4}: one draw (1 + 2 + 4) / 3; two: {1,2} {1,4} {2,4} → (1 + 1 + 2) / 3; three: 1.
  EXPECT_THAT(random_curve(space_of({4, 1, 2})),
              ElementsAre(DoubleNear(7.0 / 3, 1e-12), DoubleNear(4.0 / 3, 1e-12), DoubleNear(1, 1e-12)));
  // An invalid config counts as the slowest.
  EXPECT_THAT(random_curve(space_of({0, 1, 2})),
              ElementsAre(DoubleNear(5.0 / 3, 1e-12), DoubleNear(4.0 / 3, 1e-12), DoubleNear(1, 1e-12)));
  EXPECT_TRUE(random_curve(space_of({0, 0})).empty());
}

TEST(ReplayTest, TheBudgetEndsWhereRandomIsCloseToTheBest) {
  std::vector<double> times(1000, 2);
  for (int fast = 0; fast < 500; ++fast) times[fast] = 1;  // after k draws 2^-k of the distance is left
  const auto curve = random_curve(space_of(times));
  EXPECT_EQ(curve.size(), 5u) << "2^-5 is below 5 %";
}

TEST(ReplayTest, FollowsTheBestSoFar) {
  const Recorded space = space_of({4, 0, 1, 2});
  Fixed strategy({1, 3, 0, 2});
  EXPECT_THAT(replay(space, strategy, 6).after, ElementsAre(4, 2, 2, 1, 1, 1)) << "nothing valid yet is the slowest";
  Fixed brief({3});
  EXPECT_THAT(replay(space, brief, 3).after, ElementsAre(2, 2, 2)) << "what it found stays";
}

// Evaluations are counted by their mean duration, here 1 s.
TEST(ReplayTest, InTimeAConfigIsKnownWhenItHasEnded) {
  Recorded space = space_of({4, 2, 1, 3});
  const double seconds[] = {0.5, 0.25, 2.5, 0.75};
  for (size_t at = 0; at < 4; ++at) space.runs[at].seconds = seconds[at];
  EXPECT_DOUBLE_EQ(mean_seconds(space), 1);
  // 4 from 0.5 s on, 2 from 0.75 s, 1 from 3.25 s.
  Fixed quick_first({0, 1, 2});
  EXPECT_THAT(replay(space, quick_first, 5).at, ElementsAre(2, 2, 2, 1, 1));
  Fixed slow_first({2, 0});  // nothing is known for 2.5 s
  const Found slow = replay(space, slow_first, 4);
  EXPECT_THAT(slow.at, ElementsAre(4, 4, 1, 1));
  EXPECT_THAT(slow.after, ElementsAre(1, 1, 1, 1));
  for (auto& run : space.runs) run.seconds = 0.1;  // no double holds it: evaluations are counted instead
  Fixed in_turn({3, 0, 1, 2});
  const Found even = replay(space, in_turn, 4);
  EXPECT_EQ(even.at, even.after);
  for (auto& run : space.runs) run.seconds = 0;
  Fixed never({0});
  EXPECT_TRUE(replay(space, never, 4).at.empty()) << "the recording has no times";
}

// Tries point 0, then what the model, which it asks for all points at once, predicts fastest.
class Predicted final : public Strategy {
 public:
  std::vector<size_t> propose(const History& history) override {
    if (history.outcomes().empty()) return {0};
    return history.tried(best_) ? std::vector<size_t>{} : std::vector<size_t>{best_};
  }
  std::vector<size_t> to_model() override { return std::exchange(asked_, true) ? std::vector<size_t>{} : all_; }
  void modelled(size_t point, std::optional<double> us) override {
    if (us.value_or(1e9) < least_) least_ = *us, best_ = point;
  }

 private:
  std::vector<size_t> all_{0, 1, 2};
  bool asked_ = false;
  size_t best_ = 0;
  double least_ = 1e9;
};

TEST(ReplayTest, TheModelsSecondsCountWhileTheDeviceRuns) {
  Recorded space = space_of({4, 2, 1});
  for (size_t at = 0; at < 3; ++at) space.runs[at].seconds = 1;
  EXPECT_TRUE(has_modelling_seconds(space)) << "it has no modelled times";
  space.runs[0].modelled_ms = 3;
  space.runs[2].modelled_ms = 2;
  EXPECT_FALSE(has_modelling_seconds(space));
  space.runs[0].modelling_seconds = space.runs[2].modelling_seconds = 2;
  EXPECT_TRUE(has_modelling_seconds(space));
  Predicted once;
  EXPECT_THAT(replay(space, once, 3).after, ElementsAre(4, 1, 1));
  Predicted on_one_core;  // the model needs 4 s, of which the device runs for 1 s
  EXPECT_THAT(replay(space, on_one_core, 6).at, ElementsAre(4, 4, 4, 4, 1, 1));
  Predicted on_four;  // 1 s, as the device
  EXPECT_THAT(replay(space, on_four, 3, 4).at, ElementsAre(4, 1, 1));
}

TEST(ReplayTest, SaysHowFarTheFirstRunsAreFromTheBest) {
  const Recorded space = space_of({4, 2, 1});
  const auto by = [&](std::vector<std::vector<size_t>> orders, size_t runs) {
    return score_of(
               space, orders.size(),
               [&](const Grid&, uint64_t seed) { return std::make_unique<Fixed>(orders.at(seed - 1)); }, 1, runs)
        .short_of_best;
  };
  EXPECT_THAT(by({{0, 1, 2}, {2, 0, 1}, {1, 0, 2}}, 2), ElementsAre(0, 1, 1));
  EXPECT_THAT(by({{0, 1, 2}}, 3), ElementsAre(0));
}

TEST(ReplayTest, TheScoreIsOneForTheBestAndNegativeForWorseThanRandom) {
  const Recorded space = space_of({1, 2, 4});
  const std::vector<double> random = random_curve(space);
  EXPECT_DOUBLE_EQ(score(space, {1, 1, 1}, random), 1);
  EXPECT_NEAR(score(space, random, random), 0, 1e-12);
  // (7/3 − 2) / (7/3 − 1) = 1/4 and (4/3 − 2) / (4/3 − 1) = −2; the last one cannot be missed.
  EXPECT_NEAR(score(space, {2, 2, 1}, random), (0.25 - 2) / 2, 1e-12);
}

// A grid of every position, with these times; 0: invalid.
Recorded recorded(const std::vector<size_t>& extents, const std::function<double(const std::vector<size_t>&)>& ms) {
  Recorded space;
  std::vector<std::vector<size_t>> points;
  size_t all = 1;
  for (const size_t extent : extents) all *= extent;
  for (size_t at = 0; at < all; ++at) {
    std::vector<size_t>& point = points.emplace_back();
    size_t left = at;
    for (const size_t extent : extents) {
      point.push_back(left % extent);
      left /= extent;
    }
    const double here = ms(point);
    space.runs.push_back({here > 0 ? std::optional(here) : std::nullopt});
  }
  space.grid = Grid(std::move(points));
  return space;
}

// The squared distance.
double off(const std::vector<size_t>& at, const std::vector<size_t>& from) {
  double sum = 0;
  for (size_t axis = 0; axis < at.size(); ++axis) {
    const double one = static_cast<double>(at[axis]) - static_cast<double>(from[axis]);
    sum += one * one;
  }
  return sum;
}

Recorded bowl() {
  return recorded({6, 5, 4, 3}, [](const std::vector<size_t>& at) {
    double ms = 1;
    for (const size_t position : at) ms *= 1 + 0.2 * off({position}, {1});
    return ms;
  });
}

Scored scored(const Recorded& space, StrategyKind kind, size_t repeats = 100) {
  return score_of(
             space, repeats,
             [kind](const Grid& grid, uint64_t seed) { return strategy_without_model(kind, grid, seed, {}, true); })
      .evaluations;
}
Scored evolved(const Recorded& space) { return scored(space, StrategyKind::evolutionary); }
Scored local(const Recorded& space) { return scored(space, StrategyKind::local); }
Scored learned(const Recorded& space) { return scored(space, StrategyKind::learning, 10); }

// If evaluations are counted, a point that is slow to try costs a search nothing extra.
TEST(ReplayTest, AScoreInSecondsCountsWhatAConfigTakes) {
  Recorded space = bowl();
  for (auto& run : space.runs) run.seconds = 1;
  const auto by_order = [&] {
    return score_of(space, 20, [](const Grid& grid, uint64_t) { return std::make_unique<Exhaustive>(grid); });
  };
  const Scores even = by_order();
  EXPECT_NEAR(even.seconds.value().mean, even.evaluations.mean, 1e-12) << "each takes a second";
  space.runs[0].seconds = 100;  // its first try
  const Scores slow_first = by_order();
  EXPECT_EQ(slow_first.evaluations.mean, even.evaluations.mean);
  EXPECT_LT(slow_first.seconds.value().mean, even.evaluations.mean - 0.1);
}

TEST(ReplayTest, RandomOrdersScoreZeroOnAverageAndASearchThatFollowsASlopeMore) {
  const Recorded space = bowl();
  const Scored random = score_of(space, 400, [](const Grid& grid, uint64_t seed) {
                          return std::make_unique<RandomOrder>(grid, seed);
                        }).evaluations;
  EXPECT_LT(random.low, 0);
  EXPECT_GT(random.high, 0);
  EXPECT_LT(random.high - random.low, 0.2);
  EXPECT_GT(evolved(space).low, random.high);
  EXPECT_GT(local(space).low, random.high);
  EXPECT_GT(learned(space).low, random.high);
}

TEST(ReplayTest, TheSearchesAreBetterThanRandomWhereThereIsAnySlope) {
  const std::map<std::string, Recorded> shapes{
      {"the deep basin is the narrow one",
       recorded({8, 8, 8},
                [](const std::vector<size_t>& at) {
                  return std::min(1 + 0.1 * off(at, {6, 6, 6}), 1.3 + 0.02 * off(at, {1, 1, 1}));
                })},
      {"a ridge across both axes", recorded({20, 20},
                                            [](const std::vector<size_t>& at) {
                                              return 1 + 0.2 * std::sqrt(off({at[0]}, {at[1]})) +
                                                     0.05 * (19 - static_cast<double>(at[0]));
                                            })},
      {"the best lies beside what is invalid", recorded({8, 8, 6}, [](const std::vector<size_t>& at) {
         return at[0] + at[1] > 9 ? 0.0 : 1 + 0.1 * off(at, {7, 2, 0});
       })}};
  for (const auto& [name, space] : shapes) {
    EXPECT_GT(evolved(space).low, 0) << name;
    EXPECT_GT(local(space).low, 0) << name;
    EXPECT_GT(learned(space).low, 0) << name;
  }
}

TEST(ReplayTest, TheSearchesAreAboutAsGoodAsRandomWhereTheNeighboursSayNothing) {
  const std::map<std::string, Recorded> shapes{
      {"wide terraces", recorded({10, 10, 4},
                                 [](const std::vector<size_t>& at) {
                                   return static_cast<double>(1 + at[0] / 3) + 0.5 * static_cast<double>(at[1] / 4);
                                 })},
      {"every neighbour on two axes is invalid", recorded({8, 8, 6}, [](const std::vector<size_t>& at) {
         return (at[0] + at[1]) % 2 == 1 ? 0.0 : 1 + 0.1 * off(at, {7, 3, 0});
       })}};
  for (const auto& [name, space] : shapes) {
    EXPECT_GT(evolved(space).mean, -0.15) << name;
    EXPECT_GT(local(space).mean, -0.15) << name;
    EXPECT_GT(learned(space).mean, -0.15) << name;
  }
}

TEST(ReplayTest, WhereNothingLeadsToTheBestASearchThatGoesOnFindsItInTheEnd) {
  // Every slope leads away from the only fast point.
  const Recorded space = recorded({7, 7, 7}, [](const std::vector<size_t>& at) {
    return off(at, {6, 6, 6}) == 0 ? 1.0 : 3 - 0.01 * off(at, {6, 6, 6});
  });
  for (const StrategyKind kind : {StrategyKind::evolutionary, StrategyKind::local, StrategyKind::learning}) {
    const auto strategy = strategy_without_model(kind, space.grid, 1, {}, true);
    EXPECT_EQ(replay(space, *strategy, space.runs.size()).after.back(), 1.0) << word_of(kind);
  }
}

TEST(T4Test, ReadsWhatAnAutotunerWrote) {
  const auto json = *parse_json(R"({"schema_version": "1.0.0", "results": [
    {"timestamp": "2024-01-01", "configuration": {"block": 64, "path": "b"},
     "times": {"compilation_time": 500, "runtimes": [2.0, 4.0], "framework": 1, "search_algorithm": 7, "validation": 3},
     "invalidity": "correct", "correctness": 1, "objectives": ["time"],
     "measurements": [{"name": "GFLOP/s", "value": 10}, {"name": "time", "value": 3.0, "unit": "ms"},
                      {"name": "modelled_time", "value": 2.5, "unit": "ms"}, {"name": "modelling_time", "value": 0.4, "unit": "s"}]},
    {"configuration": {"block": 128, "path": "a"}, "times": {"runtimes": []}, "invalidity": "compile", "correctness": 0,
     "measurements": [{"name": "time", "value": 9.0}]},
    {"configuration": {"block": 9, "path": "a"}, "times": {}, "invalidity": "correct", "correctness": 1,
     "measurements": [{"name": "time", "value": "InvalidConfig"}]}]})",
                                "t4.json");
  const auto space = recorded_from_t4(json, "t4.json");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_THAT(space->knobs, ElementsAre("block", "path"));
  EXPECT_THAT(space->grid.at(0), ElementsAre(1, 1)) << "values in order: 9, 64, 128; a, b";
  EXPECT_THAT(space->grid.at(1), ElementsAre(2, 0));
  EXPECT_EQ(space->runs[0].ms, 3.0);
  EXPECT_EQ(space->runs[0].modelled_ms, 2.5);
  EXPECT_EQ(space->runs[0].modelling_seconds, 0.4);
  EXPECT_NEAR(space->runs[0].seconds, 0.51, 1e-9) << "not the search's own time";
  EXPECT_FALSE(space->runs[1].ms) << "invalid, whatever was measured";
  EXPECT_FALSE(space->runs[2].ms);
}

TEST(T4Test, TheTimeIsThatOfTheFirstObjective) {
  const auto ms = [](const std::string& objectives) {
    const auto space = recorded_from_t4(
        *parse_json(R"({"results": [{"configuration": {"a": 1}, "times": {}, "invalidity": "correct", "objectives": )" +
                        objectives +
                        R"(, "measurements": [{"name": "time", "value": 3}, {"name": "GFLOP/s", "value": 8}]}]})",
                    "t4.json"),
        "t4.json");
    return space ? space->runs[0].ms : std::nullopt;
  };
  EXPECT_EQ(ms(R"(["GFLOP/s", "time"])"), 8);
  EXPECT_EQ(ms("[]"), 3);
  EXPECT_EQ(ms("[7]"), 3);
  EXPECT_EQ(ms(R"(["energy"])"), std::nullopt);
}

TEST(T4Test, NamesWhatIsWrong) {
  const auto why = [](const std::string& text) {
    const auto space = recorded_from_t4(*parse_json(text, "t4.json"), "t4.json");
    return space ? "taken" : space.error().message;
  };
  const std::string one = R"({"configuration": {"a": 1}, "times": {}, "invalidity": "correct"})";
  EXPECT_EQ(why("{\"results\": [" + one + "]}"), "taken");
  EXPECT_THAT(why("{}"), HasSubstr("t4.json/results: must be"));
  EXPECT_THAT(why("[]"), HasSubstr("t4.json/results: must be"));
  EXPECT_THAT(why("{\"results\": [3]}"), HasSubstr("results/0/configuration: must be"));
  for (const std::string none : {"{}", "[]", "[1]", "3"})
    EXPECT_THAT(why("{\"results\": [{\"configuration\": " + none + R"(, "times": {}, "invalidity": "correct"}]})"),
                HasSubstr("results/0/configuration: must be"))
        << none;
  EXPECT_THAT(why("{\"results\": [" + one + "," + one + "]}"), HasSubstr("results/1: its config is there twice"));
  EXPECT_THAT(why("{\"results\": [" + one + R"(, {"configuration": {"b": 1}, "times": {}, "invalidity": "correct"}]})"),
              HasSubstr("results/0/configuration: has no b"));
  EXPECT_THAT(why(R"({"results": [{"configuration": {"a": 1}, "times": {}, "invalidity": "bad"}]})"),
              HasSubstr("results/0/invalidity: \"bad\" is not one of"));
  EXPECT_THAT(why(R"({"results": [{"configuration": {"a": 1}, "invalidity": "correct"}]})"),
              HasSubstr("results/0/times"));
}

TEST(T4Test, WhatIsWrittenIsReadBack) {
  std::vector<T4Result> results(2);
  results[0] = {{{"BLOCK_M", 16}, {"SYNC_POLICY", "cta"}}, Invalidity::correct, 0.0842, {0.08, 0.09}, 250, {}};
  results[0].modelled_ms = 0.07;
  results[1] = {{{"BLOCK_M", 64}, {"SYNC_POLICY", "cta"}}, Invalidity::constraints, std::nullopt, {}, 0, {}};
  const Json json = t4_of(results);
  EXPECT_EQ(json["schema_version"], "1.0.0");
  EXPECT_EQ(json["results"][1]["invalidity"], "constraints");
  EXPECT_EQ(json["results"][1]["correctness"], 0);
  const auto space = recorded_from_t4(json, "t4.json");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->runs[0].ms, 0.0842);
  EXPECT_EQ(space->runs[0].modelled_ms, 0.07);
  EXPECT_FALSE(space->runs[1].modelled_ms);
  EXPECT_NEAR(space->runs[0].seconds, 0.25 + 0.00017, 1e-9);
  EXPECT_FALSE(space->runs[1].ms);
}

}  // namespace
}  // namespace attnscope::search
