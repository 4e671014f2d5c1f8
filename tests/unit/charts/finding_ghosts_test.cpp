#include "charts/finding_ghosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;

Finding finding(RuleId rule) {
  Finding one;
  one.rule = rule;
  one.severity = Severity::warning;
  one.sentence = one.rule.name();
  return one;
}

Finding at_line(RuleId rule, int line) {
  Finding one = finding(rule);
  one.where = {{"file", "k.cu"}, {"line", std::to_string(line)}};
  return one;
}

TEST(FindingGhosts, SayWhatADoesNotHaveAndWhatIsGone) {
  Observation a, b;
  a.experiment.kernel_hash = b.experiment.kernel_hash = "one source";
  a.findings = {at_line(RuleId::bank_conflicts, 3), at_line(RuleId::bank_conflicts, 9), finding(RuleId::grid_tail)};
  b.findings = {at_line(RuleId::bank_conflicts, 3), at_line(RuleId::lone_warps, 9), finding(RuleId::grid_tail)};
  const auto gone = [&] {
    std::vector<std::string> all;
    for (const Finding* one : gone_since(a, b)) all.push_back(one->sentence + one->where.at("line"));
    return all;
  };
  EXPECT_THAT(since_a(b, &a), ElementsAre(false, true, false));
  EXPECT_THAT(gone(), ElementsAre("banks.conflicts9")) << "at that line";
  b.experiment.kernel_hash = "another source";
  EXPECT_THAT(since_a(b, &a), ElementsAre(false, true, false));
  EXPECT_THAT(gone(), ElementsAre()) << "the lines are others, the rule is there";
  EXPECT_THAT(since_a(b, nullptr), ElementsAre(false, false, false));
}

TEST(FindingGhosts, ARunThatWasNotWatchedSaysNothingOfRaces) {
  Observation a, b;
  b.watch.emplace().findings = {at_line(RuleId::race_shared, 3)};
  EXPECT_THAT(since_a(b, &a), ElementsAre(false));
  EXPECT_THAT(gone_since(b, a), ElementsAre());
  a.watch.emplace();
  EXPECT_THAT(since_a(b, &a), ElementsAre(true));
  EXPECT_EQ(gone_since(b, a).size(), 1u);
}

}  // namespace
}  // namespace attnscope::charts
