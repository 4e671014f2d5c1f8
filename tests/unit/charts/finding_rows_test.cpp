#include "charts/finding_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;

Finding finding(RuleId rule, Severity severity = Severity::warning) {
  Finding one;
  one.rule = rule;
  one.severity = severity;
  one.sentence = one.rule.name();
  return one;
}

std::vector<std::string> sentences(const Observation& seen) {
  std::vector<std::string> all;
  for (const FindingRow& row : finding_rows(seen)) all.push_back(row.sentence);
  return all;
}

TEST(FindingRows, ErrorsComeFirstThenTheWatchsWarningsAndItsNotesLast) {
  Observation seen;
  seen.findings = {finding(RuleId::bank_conflicts), finding(RuleId::limits_exceeded, Severity::error)};
  seen.watch.emplace().findings = {finding(RuleId::output_unwritten, Severity::info), finding(RuleId::race_warp),
                                   finding(RuleId::race_shared, Severity::error)};
  EXPECT_THAT(sentences(seen),
              ElementsAre("race.shared", "limits.exceeded", "race.warp", "banks.conflicts", "output.unwritten"));
}

// The watch finds needless barriers, but they cost the run's time as other causes do.
TEST(FindingRows, ANeedlessBarrierHasItsPlaceByGain) {
  Observation seen;
  const auto gaining = [](RuleId rule, double us) {
    Finding one = finding(rule);
    one.gain = Gain{us, std::nullopt};
    return one;
  };
  seen.findings = {gaining(RuleId::bank_conflicts, 30), gaining(RuleId::grid_tail, 10), finding(RuleId::bound_roof)};
  seen.watch.emplace().needless = {gaining(RuleId::barrier_needless, 20), gaining(RuleId::barrier_needless, 5)};
  EXPECT_THAT(sentences(seen),
              ElementsAre("banks.conflicts", "wait.needless", "grid.tail", "wait.needless", "bound.roof"));
}

TEST(FindingRows, AGroupIsWhereItsFirstFindingIs) {
  Observation seen;
  seen.findings = {finding(RuleId::grid_tail), finding(RuleId::bank_conflicts), finding(RuleId::occupancy_low),
                   finding(RuleId::global_narrow), finding(RuleId::phase_most)};
  const std::vector<FindingsOfGroup> groups = by_group(finding_rows(seen));
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].group, FindingGroup::launch);
  EXPECT_THAT(groups[0].at, ElementsAre(0, 2));
  EXPECT_EQ(groups[1].group, FindingGroup::memory);
  EXPECT_THAT(groups[1].at, ElementsAre(1, 3));
  EXPECT_EQ(groups[2].group, FindingGroup::figures);
  EXPECT_THAT(groups[2].at, ElementsAre(4));
  EXPECT_TRUE(by_group(std::vector<FindingRow>()).empty());
}

class Causes : public testing::Test {
 protected:
  // The rules of each cause.
  std::vector<std::string> of() const {
    std::vector<const Finding*> all;
    for (const Finding& one : findings_) all.push_back(&one);
    std::vector<std::string> texts;
    for (const Cause& cause : causes(all)) {
      std::string text;
      for (const Finding* one : cause.findings) text += (text.empty() ? "" : " ") + one->rule.name();
      texts.push_back(text);
    }
    return texts;
  }
  std::vector<Finding> findings_{finding(RuleId::bank_conflicts), finding(RuleId::grid_tail),
                                 finding(RuleId::lone_warps), finding(RuleId::occupancy_low),
                                 finding(RuleId::latency_exposed)};
};

TEST_F(Causes, FindingsThatOneChangeCuresAreOne) {
  EXPECT_EQ(of().size(), findings_.size());
  findings_[3].next = findings_[4].next = Next{{{"ROWS", 16}}};
  EXPECT_THAT(of(), ElementsAre("banks.conflicts", "grid.tail", "warps.lone", "occupancy.low latency.exposed"));
  findings_[4].next = Next{{{"ROWS", 64}}};
  EXPECT_EQ(of().size(), findings_.size()) << "another change";
  findings_[3].next = findings_[4].next = Next{};
  EXPECT_EQ(of().size(), findings_.size()) << "no change";
}

TEST_F(Causes, AFindingAndItsCauseAreOneWhereTheFirstOfThemIs) {
  findings_[1].where["because"] = "occupancy.low";
  EXPECT_THAT(of(), ElementsAre("banks.conflicts", "grid.tail occupancy.low", "warps.lone", "latency.exposed"));
  findings_[4].where["because"] = "grid.tail";
  EXPECT_THAT(of(), ElementsAre("banks.conflicts", "grid.tail occupancy.low latency.exposed", "warps.lone"));
}

// helper.unused is one finding for all functions that nothing calls.
TEST_F(Causes, AFunctionThatNothingCallsCausesOnlyWhatItWouldRemove) {
  findings_ = {finding(RuleId::bank_conflicts), finding(RuleId::tensor_unused), finding(RuleId::helper_unused)};
  findings_[0].where = {{"because", "helper.unused"}, {"function", "swizzled"}};
  findings_[1].where = {{"because", "helper.unused"}, {"function", "multiplied"}};
  findings_[2].where = {{"function", "multiplied"}};
  EXPECT_THAT(of(), ElementsAre("banks.conflicts", "tensor.unused helper.unused"));
}

TEST_F(Causes, AFindingMayJoinTwoOthers) {
  findings_[0].next = findings_[4].next = Next{{{"ROWS", 16}}};
  findings_[4].where["because"] = "warps.lone";
  EXPECT_THAT(of(), ElementsAre("banks.conflicts warps.lone latency.exposed", "grid.tail", "occupancy.low"));
}

TEST_F(Causes, SeveralFindingsOfARuleAreOneUnlessTheyAreOfOtherLaunches) {
  findings_ = {finding(RuleId::race_shared), finding(RuleId::luck_order), finding(RuleId::race_shared)};
  EXPECT_THAT(of(), ElementsAre("race.shared race.shared", "luck.order"));
  findings_[2].where["launch"] = "2";
  EXPECT_EQ(of().size(), 3u);
}

TEST_F(Causes, ACauseHasTheFirstGainAndTheFirstProposal) {
  findings_ = {finding(RuleId::race_shared), finding(RuleId::race_shared), finding(RuleId::race_shared)};
  const std::vector<const Finding*> all{&findings_[0], &findings_[1], &findings_[2]};
  EXPECT_EQ(causes(all).front().gain(), nullptr);
  EXPECT_EQ(causes(all).front().next(), nullptr);
  findings_[0].next = Next{};
  findings_[1].gain = Gain{3, std::nullopt}, findings_[1].next = Next{{{"ROWS", 16}}};
  findings_[2].gain = Gain{2, std::nullopt}, findings_[2].next = Next{{{"ROWS", 64}}};
  const std::vector<Cause> one = causes(all);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one.front().gain(), &*findings_[1].gain);
  EXPECT_EQ(one.front().next(), &*findings_[1].next);
  EXPECT_EQ(one.front().names([](const Rule& rule) { return rule.name(); }), "race.shared");
}

TEST_F(Causes, WhereTheTimeGoesIsNone) {
  findings_ = {finding(RuleId::bound_roof), finding(RuleId::grid_tail), finding(RuleId::phase_most)};
  EXPECT_THAT(of(), ElementsAre("grid.tail"));
}

}  // namespace
}  // namespace attnscope::charts
