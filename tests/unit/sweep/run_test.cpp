#include "sweep/run.h"

#include <gtest/gtest.h>

namespace attnscope::sweep {
namespace {

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

}  // namespace
}  // namespace attnscope::sweep
