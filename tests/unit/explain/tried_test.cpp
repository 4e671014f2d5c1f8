#include "explain/tried.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/rules.h"

namespace attnscope::explain {
namespace {

using testing::HasSubstr;

// A run of ROWS=32 with one finding; `share` is its share of the time.
Observation run(int64_t rows, double us, double share, const char* code) {
  Observation o;
  o.experiment.kernel = "made_up";
  o.experiment.config.knobs = {{"ROWS", rows}, {"WIDE", 0}};
  o.device = o.experiment.device = "emulated:test";
  o.timing.emplace().p50 = us;
  o.verdict.emplace().state = VerdictState::correct;
  o.variant.emplace().code_hash = code;
  if (share > 0) {
    Finding finding = note(RuleId::bank_conflicts, Severity::warning, "Conflicts.", {});
    finding.gain = Gain{us * share, std::nullopt};
    o.findings = {finding};
  }
  return o;
}

class Tried : public testing::Test {
 protected:
  const Finding& after(const std::vector<Observation>& tried) {
    take_tried(base_, tried);
    return base_.findings.front();
  }
  Observation base_ = run(32, 100, 0.3, "a");
};

TEST_F(Tried, TheNextIsTheFastestThatCuresTheFinding) {
  const Finding& finding = after({run(16, 90, 0.01, "b"), run(64, 80, 0, "c"), run(128, 120, 0, "d")});
  ASSERT_TRUE(finding.next);
  EXPECT_EQ(finding.next->set, (std::map<std::string, int64_t>{{"ROWS", 64}}));
  EXPECT_DOUBLE_EQ(*finding.gain->tried, 20);
  EXPECT_DOUBLE_EQ(*finding.gain->estimated, 30);
}

TEST_F(Tried, TwoRunsOfOneConfigHaveTheSameCode) {
  const auto said = [](const Observation& a, const Observation& b) {
    const auto findings = changes(a, b);
    return findings.empty() ? "" : findings.front().sentence;
  };
  EXPECT_EQ(said(base_, base_), "Both runs have the same machine code: whatever is measured between the two is noise.");
  EXPECT_THAT(said(base_, run(16, 100, 0, "a")), testing::StartsWith("ROWS=16 gives the same machine code: "));
  EXPECT_EQ(said(base_, run(16, 100, 0, "b")), "");
}

// A faster run has less of every cost; it cures the cause only if the cause's share falls.
TEST_F(Tried, AFasterRunWithTheSameShareCuresNothing) {
  base_.findings[0].next = Next{{{"ROWS", 16}}};
  const Finding& finding = after({run(16, 50, 0.3, "b")});
  EXPECT_FALSE(finding.next) << "an untried proposal that does not help stays";
  EXPECT_FALSE(finding.gain->tried);
}

TEST_F(Tried, TheCausesShareMustFallBelowSevenTenths) {
  EXPECT_FALSE(after({run(16, 50, 0.22, "b")}).next);
  EXPECT_TRUE(after({run(16, 50, 0.2, "b")}).next);
}

TEST_F(Tried, AFindingOfAnotherLaunchIsAnotherFinding) {
  base_.findings[0].where["launch"] = "1";
  Observation other = run(16, 50, 0.3, "b");
  other.findings[0].where["launch"] = "2";
  EXPECT_TRUE(after({other}).next) << "the launch has no such finding there";
  other.findings[0].where["launch"] = "1";
  EXPECT_FALSE(after({other}).next);
}

TEST_F(Tried, ACureThatIsSlowerIsNotProposed) { EXPECT_FALSE(after({run(16, 101, 0, "b")}).next); }

TEST_F(Tried, AWrongAFailedAndAnIncomparableRunAreNotProposed) {
  std::vector<Observation> tried(4, run(16, 50, 0, "b"));
  tried[0].verdict->state = VerdictState::wrong;
  tried[1].failure = Failure{Stage::limits, "too much", ""};
  tried[2].device = tried[2].experiment.device = "emulated:other";
  Finding race = note(RuleId::race_shared, Severity::error, "A race.", {});
  tried[3].watch.emplace().findings = {race};
  EXPECT_FALSE(after(tried).next);
}

TEST_F(Tried, TheSameMachineCodeIsAFinding) {
  take_tried(base_, {run(16, 100, 0.3, "a"), run(64, 100, 0.3, "a"), run(128, 90, 0.3, "b")});
  ASSERT_EQ(base_.findings.size(), 2u);
  EXPECT_EQ(base_.findings[1].rule, RuleId::code_identical);
  EXPECT_THAT(base_.findings[1].sentence, HasSubstr("ROWS=16 or ROWS=64 gives the same machine code"));
}

TEST(Changes, TwoRunsOfOneMachineCode) {
  const auto same = changes(run(32, 100, 0, "a"), run(16, 98, 0, "a"));
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].rule, RuleId::code_identical);
  EXPECT_THAT(same[0].sentence, HasSubstr("ROWS=16"));
  EXPECT_TRUE(changes(run(32, 100, 0, "a"), run(16, 98, 0, "b")).empty());
  EXPECT_TRUE(changes(run(32, 100, 0, ""), run(16, 98, 0, "")).empty()) << "a library's code is not known";
}

TEST(Changes, StandBeforeWhatTheRunSaysByItself) {
  Observation now = run(16, 98, 0, "a");
  now.findings = {note(RuleId::bank_conflicts, Severity::warning, "Costs much.", {})};
  put_changes_first(run(32, 100, 0, "a"), now);
  ASSERT_EQ(now.findings.size(), 2u);
  EXPECT_EQ(now.findings[0].rule, RuleId::code_identical);
  EXPECT_EQ(now.findings[1].rule, RuleId::bank_conflicts);
}

// Measured times, each with its interval.
std::vector<Finding> of_times(double a, double b, double width, void (*change)(Observation&) = nullptr) {
  Observation first = run(32, a, 0, "a"), second = run(16, b, 0, "b");
  for (Observation* one : {&first, &second}) {
    one->timing->kind = FigureKind::measured;
    one->timing->interval_low = one->timing->p50 - width;
    one->timing->interval_high = one->timing->p50 + width;
  }
  if (change != nullptr) change(second);
  return changes(first, second);
}

TEST(Changes, IntervalsThatOverlapAreNoDifference) {
  const auto tie = of_times(1028, 1037, 6);
  ASSERT_EQ(tie.size(), 1u);
  EXPECT_EQ(tie[0].rule, RuleId::times_tie);
  EXPECT_TRUE(of_times(1028, 1137, 6).empty());
  const auto bare = of_times(1028, 1137, 0);
  ASSERT_EQ(bare.size(), 1u) << "no interval";
  EXPECT_EQ(bare[0].rule, RuleId::times_tie);
}

TEST(Changes, TimesOfTwoKindsAreNoPair) {
  for (void (*change)(Observation&) : {+[](Observation& o) { o.timing->kind = FigureKind::reported; },
                                       +[](Observation& o) { o.experiment.measure.cache = CacheState::cold; },
                                       +[](Observation& o) { o.experiment.problem.seq_q = 1024; },
                                       +[](Observation& o) { o.device = o.experiment.device = "cuda:1"; }}) {
    const auto found = of_times(839, 47, 1, change);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rule, RuleId::times_unlike);
    EXPECT_EQ(found[0].severity, Severity::warning);
  }
  EXPECT_TRUE(of_times(839, 47, 1).empty());
}

}  // namespace
}  // namespace attnscope::explain
