#include "sweep/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "unit/sweep/scan_session.h"

namespace attnscope::sweep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AnswersAgainTest, OnlyARunOfTheSameVersionsWithAResultOfItsOwn) {
  Observation run;
  run.versions = {"1.0", "13.0", "580", "H200"};
  run.timing.emplace().p50 = 10;
  run.verdict.emplace().state = VerdictState::correct;
  EXPECT_TRUE(answers_again(run, run.versions, false));
  EXPECT_FALSE(answers_again(run, run.versions, true)) << "it was not watched";
  Versions other = run.versions;
  other.driver = "581";
  EXPECT_FALSE(answers_again(run, other, false));
  Observation unfinished = run;
  unfinished.timing.reset();
  EXPECT_FALSE(answers_again(unfinished, run.versions, false));
  for (const Stage stage : {Stage::compile, Stage::limits, Stage::launch, Stage::deadline, Stage::decode}) {
    unfinished.failure = Failure{stage, "", ""};
    EXPECT_TRUE(answers_again(unfinished, run.versions, true)) << "the config's own doing";
  }
  for (const Stage stage : {Stage::crash, Stage::cancelled, Stage::device, Stage::protocol, Stage::internal}) {
    unfinished.failure = Failure{stage, "", ""};
    EXPECT_FALSE(answers_again(unfinished, run.versions, false)) << "nothing is known of the config";
  }
}

class RunTest : public testing::Test {
 protected:
  RunTest() {
    held_.kernel = "k";
    held_.kernel_hash = "hash";
    held_.device = "cuda:0";
    session_.answer = [](const Experiment& e, bool watched) {
      Observation run = measured(10.0 * static_cast<double>(e.config.knobs.at("K")));
      if (watched) run.watch.emplace();
      return run;
    };
    settings_.versions = {"1.0", "13.0", "580", "H200"};
    settings_.new_id = [this] { return ++last_id_; };
    settings_.control = &control_;
    settings_.on_progress = [this](const RunProgress& now) { progress_.push_back({now.ended, now.asked}); };
  }
  sweep::Run make(store::Results* results = nullptr) { return {session_, results, held_, settings_}; }
  static std::vector<int64_t> values(const Scan& scan) {
    std::vector<int64_t> all;
    for (const ScanPoint& point : scan.points) all.push_back(point.config.knobs.at("K"));
    return all;
  }

  ScanSession session_;
  Experiment held_;
  Control control_;
  sweep::Run::Settings settings_;
  uint64_t last_id_ = 0;
  std::vector<std::pair<size_t, size_t>> progress_;  // ended, asked
};

TEST_F(RunTest, EachConfigRunsOnceHoweverOftenMoreAreAsked) {
  double best = 0;
  settings_.on_progress = [&](const RunProgress& now) {
    progress_.push_back({now.ended, now.asked});
    if (now.best != nullptr) best = now.best->timing->p50;
  };
  sweep::Run run = make();
  ASSERT_TRUE(run.run({config_of(3), config_of(2)}));
  EXPECT_EQ(best, 20);
  ASSERT_TRUE(run.run({config_of(1)}));
  EXPECT_EQ(best, 10);
  EXPECT_THAT(values(run.scan()), ElementsAre(3, 2, 1));
  EXPECT_THAT(session_.ran(), ElementsAre(ElementsAre(3, 2), ElementsAre(1)));
  EXPECT_EQ(run.known(), 0u);
  EXPECT_FALSE(run.not_kept());
  EXPECT_THAT(progress_, ElementsAre(testing::Pair(2u, 2u), testing::Pair(3u, 3u)));
  for (const auto& one : session_.asked) {
    EXPECT_TRUE(one.request.stays) << "another experiment does not end it";
    EXPECT_TRUE(one.request.discards);
    EXPECT_EQ(one.request.draft.device, "cuda:0");
  }
  EXPECT_NE(session_.asked[0].request.id, session_.asked[1].request.id);
}

TEST_F(RunTest, WhatTheDatabaseHoldsIsNotRunAgain) {
  const testing_support::TempDir folder;
  const auto results = store::Results::open(folder / "results.sqlite");
  ASSERT_TRUE(results) << results.error().message;
  sweep::Run first = make(results->get());
  ASSERT_TRUE(first.run({config_of(1), config_of(2)}));
  EXPECT_EQ((*results)->count().value_or(-1), 2);
  sweep::Run second = make(results->get());
  ASSERT_TRUE(second.run({config_of(2), config_of(3)}));
  EXPECT_EQ(second.known(), 1u);
  EXPECT_THAT(session_.ran().back(), ElementsAre(3));
  EXPECT_EQ((*results)->count().value_or(-1), 3) << "what was known is not kept twice";
  settings_.fresh = true;
  sweep::Run fresh = make(results->get());
  ASSERT_TRUE(fresh.run({config_of(1)}));
  EXPECT_THAT(session_.ran().back(), ElementsAre(1));
  EXPECT_EQ(fresh.known(), 0u);
  settings_.fresh = false;
  settings_.versions.driver = "581";
  sweep::Run newer = make(results->get());
  ASSERT_TRUE(newer.run({config_of(1)}));
  EXPECT_THAT(session_.ran().back(), ElementsAre(1)) << "it was another driver's";
}

TEST_F(RunTest, WithoutAResultNothingIsKept) {
  const testing_support::TempDir folder;
  const auto results = store::Results::open(folder / "results.sqlite");
  ASSERT_TRUE(results) << results.error().message;
  session_.answer = [](const Experiment&, bool) { return Observation(); };
  sweep::Run nothing = make(results->get());
  ASSERT_TRUE(nothing.run({config_of(1)}));
  EXPECT_EQ((*results)->count().value_or(-1), 0);
  session_.answer = [](const Experiment&, bool) {
    Observation run;
    run.failure = Failure{Stage::compile, "no", ""};
    return run;
  };
  sweep::Run refused = make(results->get());
  ASSERT_TRUE(refused.run({config_of(1)}));
  EXPECT_EQ((*results)->count().value_or(-1), 1) << "a refusal is a result";
}

TEST_F(RunTest, AnEditedKernelEndsIt) {
  session_.kernel_hash = "edited";
  const auto done = make().run({config_of(1)});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::input);
  EXPECT_EQ(done.error().message, "k was edited while it was swept");
  held_.kernel_hash.clear();
  EXPECT_TRUE(make().run({config_of(1)})) << "whichever version it is";
}

TEST_F(RunTest, ASessionThatRefusesAllIsTheRunsFailure) {
  session_.refusal = Failure{Stage::device, "it is lost", "Try it again."};
  const auto done = make().run({config_of(1)});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), *session_.refusal);
}

TEST_F(RunTest, AWatchTakesThePlaceOfWhatWasKnown) {
  const testing_support::TempDir folder;
  const auto results = store::Results::open(folder / "results.sqlite");
  ASSERT_TRUE(results) << results.error().message;
  size_t scans = 0;
  settings_.on_scan = [&](const session::Shared<Scan>&) { ++scans; };
  sweep::Run run = make(results->get());
  ASSERT_TRUE(run.run({config_of(1), config_of(2), config_of(3)}));
  EXPECT_EQ(scans, 1u);
  ASSERT_TRUE(run.watch({2, 0}));
  EXPECT_EQ(scans, 2u) << "the watch's own scan is not the run's";
  EXPECT_THAT(session_.ran().back(), ElementsAre(3, 1));
  EXPECT_EQ(session_.asked.back().request.watch, session::Watch::always);
  EXPECT_FALSE(session_.asked.back().request.discards) << "what is watched leads";
  EXPECT_TRUE(run.scan().points[0].observation->watch);
  EXPECT_FALSE(run.scan().points[1].observation->watch);
  EXPECT_TRUE(run.scan().points[2].observation->watch);
  EXPECT_EQ((*results)->count().value_or(-1), 5) << "and it is kept too";
}

TEST_F(RunTest, AStoppedOneHasWhatCameBefore) {
  session_.holds = 1;
  settings_.on_look = [this](const session::Snapshot&) { control_.stop(); };
  sweep::Run run = make();
  ASSERT_TRUE(run.run({config_of(1), config_of(2), config_of(3)}));
  EXPECT_TRUE(run.stopped());
  EXPECT_THAT(values(run.scan()), ElementsAre(1));
  sweep::Run never = make();
  ASSERT_TRUE(never.run({config_of(1)}));
  EXPECT_THAT(never.scan().points, IsEmpty());
  EXPECT_EQ(session_.asked.size(), 1u) << "nothing more runs";
}

TEST_F(RunTest, AfterAPauseWhatHadNotEndedIsAskedAgain) {
  session_.holds = 1;
  settings_.on_look = [this](const session::Snapshot&) {
    if (session_.holds == 1) control_.pause();
  };
  session_.on_end = [this] {
    session_.holds = SIZE_MAX;
    control_.resume();
  };
  sweep::Run run = make();
  ASSERT_TRUE(run.run({config_of(1), config_of(2), config_of(3)}));
  EXPECT_THAT(values(run.scan()), ElementsAre(1, 2, 3));
  EXPECT_THAT(session_.ran(), ElementsAre(ElementsAre(1), ElementsAre(2, 3))) << "the first one is known";
}

TEST(ControlTest, AStopIsForGood) {
  Control control;
  EXPECT_FALSE(control.interrupts());
  EXPECT_TRUE(control.may_go_on());
  control.pause();
  EXPECT_TRUE(control.paused());
  EXPECT_TRUE(control.interrupts());
  EXPECT_FALSE(control.stopped());
  control.resume();
  EXPECT_FALSE(control.paused());
  control.stop();
  control.resume();
  EXPECT_TRUE(control.stopped());
  EXPECT_FALSE(control.may_go_on());
}

}  // namespace
}  // namespace attnscope::sweep
