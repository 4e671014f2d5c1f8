// How many CTAs a scan's values run, and when all of them do.
#include "session/scan_sample.h"

#include <gtest/gtest.h>

namespace attnscope::session {
namespace {

Problem mission() {
  Problem problem;
  problem.batch = 1;
  problem.heads = problem.kv_heads = 8;
  problem.seq_q = problem.seq_k = 512;
  problem.head_dim = 64;
  return problem;
}

// A run of 20 of 100 CTAs that checked `rows` of 1,000.
Observation sampled(VerdictState state, int64_t rows) {
  Observation run;
  run.verdict = Verdict{};
  run.verdict->state = state;
  run.verdict->rows_checked = rows;
  run.verdict->rows_total = 1000;
  run.counters = Counters{};
  run.counters->emulated_ctas = 20;
  run.counters->total_ctas = 100;
  return run;
}

TEST(ScanSample, ATenthOfTheMissionShapeRuns) {
  EXPECT_NEAR(ScanSample(mission()).share_of(0, 1), 0.093, 0.001);
  EXPECT_EQ(ScanSample(mission()).share_of(0, 0.05), 0.05) << "never more than the experiment asks for";
}

TEST(ScanSample, SmallAndVeryLargeProblemsRunWhatTheExperimentSays) {
  Problem small = mission();
  small.seq_q = small.seq_k = 128;
  EXPECT_EQ(ScanSample(small).share_of(0, 1), 1);
  Problem large = mission();
  large.seq_q = large.seq_k = 4096;
  EXPECT_EQ(ScanSample(large).share_of(0, 1), 1);
  EXPECT_EQ(ScanSample().share_of(0, 1), 1);
}

TEST(ScanSample, AMaskDoesNotMakeAProblemSmaller) {
  Problem causal = mission();
  causal.causal = Causal::top_left;
  EXPECT_EQ(ScanSample(causal).share_of(0, 1), ScanSample(mission()).share_of(0, 1));
  causal.seq_q = causal.seq_k = 1280;  // the rows of so large a problem have no reference each
  EXPECT_EQ(ScanSample(causal).share_of(0, 1), 1);
}

TEST(ScanSample, WhatIsNotAttentionRunsWhole) {
  Problem other = mission();
  other.kind = ProblemKind::custom;
  EXPECT_EQ(ScanSample(other).share_of(0, 1), 1);
}

TEST(ScanSample, CtasThatWroteAnEqualPartEachLeaveNoDoubt) {
  ScanSample sample(mission());
  EXPECT_FALSE(sample.doubts(3, sampled(VerdictState::correct, 200)));
  EXPECT_LT(sample.share_of(3, 1), 1);
}

TEST(ScanSample, AnUnevenPartRunsAgainWholeAndOnlyOnce) {
  ScanSample sample(mission());
  const Observation run = sampled(VerdictState::correct, 190);
  EXPECT_TRUE(sample.doubts(3, run)) << "a CTA may leave rows unwritten";
  EXPECT_EQ(sample.share_of(3, 1), 1);
  EXPECT_LT(sample.share_of(2, 1), 1) << "the others stay as they are";
  EXPECT_FALSE(sample.doubts(3, run));
}

TEST(ScanSample, AWrongOutputRunsAgainWhole) {
  EXPECT_TRUE(ScanSample(mission()).doubts(0, sampled(VerdictState::wrong, 200)))
      << "CTAs that add to each other's rows are wrong only in a sample";
  EXPECT_TRUE(ScanSample(mission()).doubts(0, sampled(VerdictState::unchecked, 0)));
}

TEST(ScanSample, AWholeRunAndOneWithoutReferenceStand) {
  Observation whole = sampled(VerdictState::wrong, 1000);
  whole.counters->emulated_ctas = 100;
  EXPECT_FALSE(ScanSample(mission()).doubts(0, whole));
  Observation bare = sampled(VerdictState::unchecked, 0);
  bare.verdict->rows_total = 0;
  EXPECT_FALSE(ScanSample(mission()).doubts(0, bare));
  EXPECT_FALSE(ScanSample(mission()).doubts(0, Observation{}));
}

}  // namespace
}  // namespace attnscope::session
