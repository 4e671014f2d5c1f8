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

TEST(FindingGhosts, EvidenceHasAsFigureWhereEachRunHasOneSuchFinding) {
  Observation a, b;
  a.experiment.kernel_hash = b.experiment.kernel_hash = "one source";
  a.timing.emplace();
  b.timing.emplace();
  a.findings = {at_line(RuleId::bank_conflicts, 3)};
  b.findings = {at_line(RuleId::bank_conflicts, 3), at_line(RuleId::lone_warps, 9)};
  a.findings[0].evidence = {{"conflicts", 80, "%", FigureKind::counted}, {"time", 40, "us", FigureKind::modelled}};
  b.findings[0].evidence = {{"conflicts", 74.7, "%", FigureKind::counted},
                            {"time", 30, "us", FigureKind::modelled},
                            {"ways", 8, "", FigureKind::counted}};
  b.findings[1].evidence = {{"conflicts", 1, "%", FigureKind::counted}};
  const auto evidence = [&](size_t row) { return finding_rows_beside(b, &a)[row].evidence; };
  EXPECT_THAT(evidence(0), ElementsAre("conflicts 74.7 % (A 80 %), counted",
                                       "time 30.00 \u00b5s (A 40.00 \u00b5s), modelled", "ways 8, counted"));
  EXPECT_THAT(evidence(1), ElementsAre("conflicts 1 %, counted"));
  EXPECT_EQ(finding_rows_beside(b, nullptr)[0].evidence[0], "conflicts 74.7 %, counted");
  a.experiment.measure.cache = CacheState::cold;
  EXPECT_THAT(evidence(0),
              ElementsAre("conflicts 74.7 % (A 80 %), counted", "time 30.00 \u00b5s, modelled", "ways 8, counted"))
      << "the two times cannot be compared";
  a.findings.push_back(at_line(RuleId::bank_conflicts, 5));
  EXPECT_THAT(evidence(0)[0], "conflicts 74.7 % (A 80 %), counted") << "the line says which";
  b.experiment.kernel_hash = "another source";
  EXPECT_EQ(evidence(0)[0], "conflicts 74.7 %, counted") << "A has two, and its lines are others";
}

}  // namespace
}  // namespace attnscope::charts
