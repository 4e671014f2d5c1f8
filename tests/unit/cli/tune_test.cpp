#include "cli/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/experiment.h"

namespace attnscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Knobs = std::map<std::string, int64_t>;

// Two knobs, and a time for each of their configs.
class TuneTest : public testing::Test {
 protected:
  TuneTest() {
    kernel_.id = "fake";
    kernel_.knobs = {{"A", {{1, ""}, {2, ""}, {3, ""}}, 2, ""}, {"B", {{10, ""}, {20, ""}}, 10, ""}};
    runs_.plain = [this](const Knobs& knobs) {
      const auto config = std::pair(knobs.at("A"), knobs.at("B"));
      asked_.push_back(config);
      Observation o;
      o.experiment.config.knobs = knobs;
      o.timing.emplace().p50 = us_.at(config);
      o.verdict.emplace().state = VerdictState::correct;
      if (change_) change_(config, o);
      return o;
    };
  }
  using Config = std::pair<int64_t, int64_t>;

  Kernel kernel_;
  std::map<Config, double> us_{{{1, 10}, 90}, {{2, 10}, 100}, {{3, 10}, 95},
                               {{1, 20}, 80}, {{2, 20}, 85},  {{3, 20}, 70}};
  std::function<void(Config, Observation&)> change_;
  std::vector<Config> asked_;
  TuneRuns runs_;
};

TEST_F(TuneTest, GoesFromTheDefaultOneKnobAfterTheOtherUntilAPassGainsNothing) {
  const auto tuned = tune(kernel_, {}, runs_);
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_THAT(asked_,
              ElementsAre(Config{2, 10}, Config{1, 10}, Config{3, 10}, Config{1, 20}, Config{2, 20}, Config{3, 20}))
      << "no config is run twice";
  EXPECT_EQ(tuned->tried, 6);
  EXPECT_EQ(tuned->best.timing->p50, 70);
  EXPECT_EQ(tuned->best.experiment.config.knobs, (Knobs{{"A", 3}, {"B", 20}}));
}

TEST_F(TuneTest, OnlyTheBestConfigsNeighboursAreTried) {
  us_[{1, 10}] = us_[{3, 10}] = 200;  // so A stays at its default
  us_[{2, 20}] = 200;
  const auto tuned = tune(kernel_, {}, runs_);
  ASSERT_TRUE(tuned);
  EXPECT_THAT(asked_, ElementsAre(Config{2, 10}, Config{1, 10}, Config{3, 10}, Config{2, 20}));
  EXPECT_EQ(tuned->best.timing->p50, 100);
}

TEST_F(TuneTest, AGainOfAThousandthDoesNotCount) {
  for (auto& [config, us] : us_) us = 100;
  us_[{1, 10}] = 99.95;
  EXPECT_EQ(tune(kernel_, {}, runs_)->best.timing->p50, 100);
  us_[{1, 10}] = 99.8;
  EXPECT_EQ(tune(kernel_, {}, runs_)->best.timing->p50, 99.8);
}

TEST_F(TuneTest, OnlyACorrectAndTimedConfigIsTheBest) {
  const std::pair<const char*, std::function<void(Observation&)>> kFaults[] = {
      {"wrong", [](Observation& o) { o.verdict->state = VerdictState::wrong; }},
      {"unchecked", [](Observation& o) { o.verdict->state = VerdictState::unchecked; }},
      {"no verdict", [](Observation& o) { o.verdict.reset(); }},
      {"not timed", [](Observation& o) { o.timing.reset(); }},
      {"failed", [](Observation& o) {
         o.failure = Failure{Stage::launch, "it failed", ""};
       }}};
  for (const auto& [what, fault] : kFaults) {
    change_ = [&](Config config, Observation& o) {
      if (config != Config{2, 20}) fault(o);
    };
    const auto tuned = tune(kernel_, {}, runs_);
    ASSERT_TRUE(tuned) << what;
    EXPECT_EQ(tuned->best.timing->p50, 85) << what;
    change_ = [&](Config, Observation& o) { fault(o); };
    EXPECT_FALSE(tune(kernel_, {}, runs_)) << what;
  }
}

TEST_F(TuneTest, IfNoneIsCorrectTheLastReasonIsSaid) {
  change_ = [](Config config, Observation& o) {
    o.verdict->state = VerdictState::wrong;
    o.verdict->reason = "B is " + std::to_string(config.second);
  };
  auto tuned = tune(kernel_, {}, runs_);
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.error().stage, Stage::input);
  EXPECT_EQ(tuned.error().message, "fake at " + short_text(Problem{}) + ": wrong: B is 20");
  change_ = [](Config, Observation& o) {
    o.verdict.reset();
    o.failure = Failure{Stage::limits, "it does not fit", ""};
  };
  tuned = tune(kernel_, {}, runs_);
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.error().message, HasSubstr(": it does not fit"));
}

TEST_F(TuneTest, WhatBeatsTheBestIsWatchedAndRejectedForAnError) {
  std::vector<Config> watched;
  runs_.watch = [&](const Knobs& knobs) {
    watched.emplace_back(knobs.at("A"), knobs.at("B"));
    Observation o;
    o.verdict.emplace().state = VerdictState::correct;
    o.watch.emplace();
    if (knobs.at("B") == 20) {
      Finding& finding = o.watch->findings.emplace_back();
      finding.rule = RuleId::race_shared;
      finding.severity = Severity::error;
    }
    return o;
  };
  const auto tuned = tune(kernel_, {}, runs_);
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(tuned->best.experiment.config.knobs, (Knobs{{"A", 1}, {"B", 10}}));
  EXPECT_THAT(watched, ElementsAre(Config{2, 10}, Config{1, 10}, Config{1, 20})) << "a slower one is not watched";
  const auto racy = best_of(kernel_, {}, {{{"B", 20}}}, runs_);
  ASSERT_FALSE(racy);
  EXPECT_THAT(racy.error().message, HasSubstr(": race, as the watch found"));
}

TEST_F(TuneTest, WhatCannotBeWatchedIsNotTheBest) {
  runs_.watch = [](const Knobs&) {
    Observation o;
    o.watch.emplace();
    o.failure = Failure{Stage::deadline, "it took too long", ""};
    return o;
  };
  auto tuned = tune(kernel_, {}, runs_);
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.error().message, HasSubstr(": not watched: it took too long"));
  runs_.watch = [](const Knobs&) { return Observation{}; };  // neither a watch nor a failure
  EXPECT_FALSE(tune(kernel_, {}, runs_));
}

TEST_F(TuneTest, NamedConfigsAreTriedOnceEachAndFilledWithDefaults) {
  const auto tuned = best_of(kernel_, {}, {{{"A", 3}}, {{"B", 10}, {"A", 3}}, {{"B", 20}}, {{"A", 9}}}, runs_);
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_THAT(asked_, ElementsAre(Config{3, 10}, Config{2, 20})) << "9 is no value of A";
  EXPECT_EQ(tuned->tried, 2);
  EXPECT_EQ(tuned->best.timing->p50, 85);
  const auto none = best_of(kernel_, {}, {}, runs_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr(": no config was tried"));
}

TEST_F(TuneTest, TheTablesEntryIsTheObservations) {
  Observation o;
  o.experiment.problem.seq_q = 777;
  o.experiment.kernel = "fake";
  o.experiment.kernel_hash = "abc";
  o.experiment.config.knobs = {{"A", 3}};
  o.timing.emplace().kind = FigureKind::measured;
  o.timing->p50 = 12.5;
  o.timing->p10 = 11;
  o.verdict.emplace().state = VerdictState::correct;
  o.versions.driver = "580";
  const report::TunedEntry entry = entry_of(o, "2026-11-22");
  EXPECT_EQ(entry.problem, o.experiment.problem);
  EXPECT_EQ(entry.kernel, "fake");
  EXPECT_EQ(entry.kernel_hash, "abc");
  EXPECT_EQ(entry.config, o.experiment.config);
  EXPECT_EQ(entry.kind, FigureKind::measured);
  EXPECT_EQ(entry.us, 12.5);
  EXPECT_EQ(entry.verdict, VerdictState::correct);
  EXPECT_EQ(entry.date, "2026-11-22");
  EXPECT_EQ(entry.versions, o.versions);
}

}  // namespace
}  // namespace attnscope::cli
