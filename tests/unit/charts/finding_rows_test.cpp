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

}  // namespace
}  // namespace attnscope::charts
