#include "core/headline.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

Observation seen(const std::string& state, std::initializer_list<std::pair<const char*, const char*>> findings = {}) {
  Observation o;
  o.verdict = Verdict{};
  o.verdict->state = *parse_word<VerdictState>(state);
  o.watch = WatchReport{};
  for (const auto& [rule, severity] : findings) {
    Finding finding;
    finding.rule = Rule::named(rule);
    finding.severity = *parse_word<Severity>(severity);
    o.watch->findings.push_back(finding);
  }
  return o;
}

TEST(Headline, IsTheVerdictWhereTheWatchIsSilentOrOnlyWarns) {
  EXPECT_EQ(headline_of(seen("correct")), Headline::correct);
  EXPECT_EQ(headline_of(seen("wrong")), Headline::wrong);
  EXPECT_EQ(headline_of(seen("unchecked")), Headline::unchecked);
  EXPECT_EQ(headline_of(seen("correct", {{"race.warp", "warning"}, {"luck.fill", "warning"}})), Headline::correct);
  EXPECT_FALSE(headline_of(Observation{}));
}

TEST(Headline, AgreementWithAnotherKernelIsNotCalledCorrect) {
  Observation agrees = seen("correct");
  agrees.verdict->against = "naive";
  agrees.timing.emplace();
  EXPECT_EQ(headline_of(agrees), Headline::agrees);
  EXPECT_EQ(words_of_output(*agrees.verdict), "agrees with the kernel naive");
  EXPECT_TRUE(is_accepted(agrees)) << "the manifest's author chose that measure";
  agrees.verdict->state = VerdictState::wrong;
  EXPECT_EQ(headline_of(agrees), Headline::wrong);
  EXPECT_EQ(words_of_output(*agrees.verdict), "differs from the kernel naive");
  EXPECT_FALSE(is_accepted(agrees));
  agrees.verdict->state = VerdictState::unchecked;
  EXPECT_EQ(headline_of(agrees), Headline::unchecked);
  EXPECT_EQ(words_of_output(*agrees.verdict), "is " + std::string(to_string(VerdictState::unchecked)));
  EXPECT_FALSE(is_accepted(agrees));
}

TEST(Headline, AnErrorOfTheWatchComesBeforeTheVerdict) {
  for (const char* state : {"correct", "wrong", "unchecked"}) {
    EXPECT_EQ(headline_of(seen(state, {{"race.shared", "error"}})), Headline::race) << state;
    EXPECT_EQ(headline_of(seen(state, {{"luck.order", "error"}})), Headline::luck) << state;
    EXPECT_EQ(headline_of(seen(state, {{"never_written.global", "error"}})), Headline::never_written) << state;
    EXPECT_EQ(headline_of(seen(state, {{"shuffle.absent", "error"}})), Headline::absent_lane) << state;
  }
  EXPECT_EQ(headline_of(seen("correct", {{"a.rule.to.come", "error"}})), Headline::fault);
  EXPECT_EQ(headline_of(seen("correct", {{"race.to_come", "error"}})), Headline::race) << "its family's";
}

TEST(Headline, TheOneThatExplainsMostIsTold) {
  EXPECT_EQ(headline_of(seen("wrong", {{"luck.fill", "error"}, {"race.grid", "error"}})), Headline::race);
  EXPECT_EQ(headline_of(seen("wrong", {{"race.shared", "error"}, {"barrier.uneven", "error"}})),
            Headline::uneven_barrier);
  EXPECT_EQ(to_string(Headline::luck), "right by luck");
  EXPECT_EQ(to_string(Headline::uneven_barrier), "uneven barrier");
}

TEST(Rule, OneThatIsNotKnownKeepsItsName) {
  EXPECT_EQ(Rule::named("race.warp"), RuleId::race_warp);
  EXPECT_EQ(Rule(RuleId::luck_fill).name(), "luck.fill");
  const Rule unknown = Rule::named("race.to_come");
  EXPECT_EQ(unknown.id(), RuleId::unknown);
  EXPECT_EQ(unknown.name(), "race.to_come");
  EXPECT_NE(unknown, Rule::named("luck.to_come"));
  EXPECT_EQ(unknown.says(), "");
  for (const RuleRow& row : kRules) {
    EXPECT_EQ(Rule::named(std::string(row.name)).id(), row.id) << row.name;
    EXPECT_EQ(Rule(row.id).headline(), row.headline) << row.name;
    EXPECT_FALSE(Rule(row.id).says().empty()) << row.name;
  }
}

TEST(Headline, OnlyCorrectInAgreementAndUncheckedAreNoFault) {
  for (int at = 0; at <= static_cast<int>(Headline::fault); ++at) {
    const auto headline = static_cast<Headline>(at);
    const bool sound = headline == Headline::correct || headline == Headline::agrees || headline == Headline::unchecked;
    EXPECT_EQ(is_fault(headline), !sound) << at;
    EXPECT_NE(to_string(headline), "?") << at;
  }
}

}  // namespace
}  // namespace attnscope
