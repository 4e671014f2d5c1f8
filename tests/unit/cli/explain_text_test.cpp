#include "cli/explain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "cli/findings.h"

namespace attnscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// By luck, a run of a racy kernel may be "correct", and no rule of explain looks for a race.
TEST(Explanation, SaysThatNothingWasWatched) {
  Kernel kernel;
  Observation seen;
  seen.timing.emplace().p50 = 12;
  EXPECT_THAT(explanation_of(seen, kernel), HasSubstr(kNotWatched));
  seen.watch.emplace();
  EXPECT_THAT(explanation_of(seen, kernel), Not(HasSubstr("Not watched")));
  EXPECT_THAT(explanation_of(Observation{}, kernel), Not(HasSubstr("Not watched"))) << "refused: nothing ran";
}

TEST(Explanation, SaysWhatAIsAndWhetherTheTwoAreAPair) {
  Observation a, b;
  a.experiment.kernel = "tiled";
  a.device = b.device = "emulated:l4";
  a.timing.emplace().kind = b.timing.emplace().kind = FigureKind::modelled;
  EXPECT_THAT(explanation_of(b, {}, &a), HasSubstr("A: tiled, B1 H8 S512 D64 on emulated:l4, modelled\nus "));
  b.experiment.problem.seq_q = b.experiment.problem.seq_k = 1024;
  EXPECT_THAT(explanation_of(b, {}, &a),
              HasSubstr("A and B are not a pair, another problem: B1 H8 S512 D64 against B1 H8 S1024 D64\nus "));
}

// Four findings of one group and one of another, which comes second in the order of all.
Observation with_findings() {
  Observation seen;
  for (const RuleId rule : {RuleId::bank_conflicts, RuleId::lone_warps, RuleId::shared_queue, RuleId::global_scattered,
                            RuleId::global_narrow})
    seen.findings.emplace_back().rule = rule;
  return seen;
}

TEST(Explanation, GroupsFindingsAndNamesThoseThatItLeavesOut) {
  const std::string text = explanation_of(with_findings(), {});
  const std::vector<std::string> order = {"\nmemory, 4 findings\n1. ",
                                          "banks.conflicts",
                                          "\n2. ",
                                          "shared.queue",
                                          "\n3. ",
                                          "global.scattered",
                                          "1 more: global.narrow (--all",
                                          "\nwarps and waits, 1 finding\n1. ",
                                          "warps.lone"};
  size_t at = 0;
  for (const std::string& words : order) {
    at = text.find(words, at);
    ASSERT_NE(at, std::string::npos) << words << "\n" << text;
  }
}

TEST(Explanation, OrShowsAllOfThem) {
  const std::string text = explanation_of(with_findings(), {}, nullptr, SIZE_MAX);
  EXPECT_THAT(text, HasSubstr("\n4. Narrow global accesses  [global.narrow"));
  EXPECT_THAT(text, Not(HasSubstr("more:")));
}

TEST(Explanation, BeginsWithWhereTheTimeGoesAndWithTheCausesThatCostMost) {
  Kernel kernel;
  kernel.knobs = {{"ROWS", {{0, "few"}, {1, "many"}}, 1, ""}};
  Observation seen = with_findings();
  seen.timing.emplace().p50 = 100;
  seen.findings[1].gain = Gain{20, std::nullopt};
  seen.findings[1].next = seen.findings[3].next = Next{{{"ROWS", 0}}};
  Finding& phase = seen.findings.emplace_back();
  phase.rule = RuleId::phase_most;
  phase.sentence = "Most of it goes to the sum.";
  EXPECT_THAT(explanation_of(seen, kernel), HasSubstr("Most of it goes to the sum.\n\nFirst of 4 causes\n"
                                                      "1. banks.conflicts\n"
                                                      "2. warps.lone, global.scattered: estimated 20 us less (1.25 "
                                                      "times); ROWS few\n"
                                                      "3. shared.queue\n\nmemory, "));
  EXPECT_THAT(explanation_of(Observation{}, {}), Not(HasSubstr("First of")));
}

}  // namespace
}  // namespace attnscope::cli
