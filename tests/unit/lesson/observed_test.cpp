#include "lesson/observed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::lesson {
namespace {

using testing::HasSubstr;

Observation timed(double us) {
  Observation one;
  one.timing.emplace();
  one.timing->p50 = us;
  one.timing->terms.emplace();
  one.timing->terms->list = {{TermKind::bank_conflicts, us / 4, {}}, {TermKind::issue, us / 2, {}}};
  return one;
}

Finding finding(RuleId rule) {
  Finding one;
  one.rule = rule;
  return one;
}

class ObservedTest : public testing::Test {
 protected:
  ObservedTest() {
    Observation a = timed(1200), b = timed(800);
    a.findings = {finding(RuleId::bank_conflicts)};
    a.watch.emplace();
    a.watch->findings = {finding(RuleId::race_shared)};
    a.verdict.emplace();
    a.verdict->state = VerdictState::wrong;
    b.failure = Failure{Stage::limits, "does not fit", ""};
    observed.set("A", a);
    observed.set("B", b);
  }
  bool holds(const std::string& expression) {
    const auto value = observed.holds(expression);
    if (!value) ADD_FAILURE() << value.error().message;
    return value.value_or(false);
  }
  std::string refusal(const std::string& expression) {
    const auto value = observed.holds(expression);
    return value ? "none" : value.error().message;
  }
  Observed observed;
};

TEST_F(ObservedTest, NumbersByTheirKeys) {
  EXPECT_TRUE(holds("A.timing.us.p50 / B.timing.us.p50 == 1.5"));
  EXPECT_FALSE(holds("A.timing.us.p50 < B.timing.us.p50"));
  EXPECT_TRUE(holds("max(A.timing.us.p50, B.timing.us.p50) > 1100 && B.timing.us.p50 < 1e3"));
}

TEST_F(ObservedTest, TextsAreEqualOrNot) {
  EXPECT_TRUE(holds("A.verdict.state == \"wrong\""));
  EXPECT_FALSE(holds("A.verdict.state != \"wrong\""));
  EXPECT_TRUE(holds("A.timing.kind == B.timing.kind"));
  EXPECT_TRUE(holds("B.failure.stage == \"limits\" || A.timing.us.p50 < 0"));
}

TEST_F(ObservedTest, FindingsAndTerms) {
  EXPECT_TRUE(holds("A finds \"banks.conflicts\""));
  EXPECT_TRUE(holds("A finds \"race.shared\""));
  EXPECT_FALSE(holds("B finds \"banks.conflicts\""));
  EXPECT_TRUE(holds("A spends \"bank conflicts\" == 300"));
  EXPECT_TRUE(holds("B spends \"MUFU\" == 0"));
  EXPECT_TRUE(holds("B.failure exists && 1"));
}

TEST_F(ObservedTest, TheCodeSaysWhichLaneHoldsAnElement) {
  Listing code;
  code.lines = {
      {.text = "@!P0 HMMA.16816.F32 R4, R8, R12, R4"}, {.text = "HMMA.16816.F32 R20, R8, R14, R20"}, {.text = "EXIT"}};
  code.lines[0].fragments = {{MatrixName::a, 16, 16, 16, 2, false, 8}, {MatrixName::d, 16, 8, 32, 2, false, 4}};
  observed.set("C", timed(1), &code);
  EXPECT_TRUE(holds("C has \"HMMA.16816.F32\" == 2 && C has \"EXIT\" == 1 && C has \"IMMA\" == 0"));
  EXPECT_TRUE(holds("C lane \"HMMA.16816.F32 A 9 7\" == 7"));
  EXPECT_TRUE(holds("C register \"HMMA.16816.F32 A 9 7\" == 1 && C bit \"HMMA.16816.F32 A 9 7\" == 16"));
  EXPECT_TRUE(holds("C register \"HMMA.16816.F32 D 9 7\" == 3"));
  for (const char* wrong : {"HMMA.16816.F32 B 0 0", "HMMA.16816.F32 A 16 0", "HMMA.16816.F32 A 0 16", "EXIT A 0 0",
                            "HMMA.16816.F32 A 9", "HMMA.16816.F32 A 9 7 8", "HMMA A 0 0", "HMMA.16816.F32 A -1 0"})
    EXPECT_THAT(refusal(std::string("C lane \"") + wrong + "\" == 7"), HasSubstr("not an element that C has")) << wrong;
  EXPECT_THAT(refusal("A lane \"HMMA.16816.F32 A 9 7\" == 7"), HasSubstr("\"code\": true"));
  observed.set("C", timed(1));
  EXPECT_THAT(refusal("C has \"EXIT\""), HasSubstr("\"code\": true")) << "another run's";
}

TEST_F(ObservedTest, WhatIsNotThereIsNamed) {
  EXPECT_THAT(refusal("C.timing.us.p50 > 1"), HasSubstr("C.timing.us.p50"));
  EXPECT_THAT(refusal("B.verdict.state == \"wrong\""), HasSubstr("B.verdict.state, which is not there"));
  EXPECT_THAT(refusal("\"wrong\" == A.timing.us.p50"), HasSubstr("compares \"wrong\" with no text"));
  EXPECT_THAT(refusal("A.timing.us.p51 > 1"), HasSubstr("A.timing.us.p51, which is not there"));
  EXPECT_THAT(refusal("A.timing > 1"), HasSubstr("not a number"));
  EXPECT_THAT(refusal("A finds \"banks.conflict\""), HasSubstr("not a rule"));
  EXPECT_THAT(refusal("A spends \"banks\""), HasSubstr("not a rule or term"));
  EXPECT_THAT(refusal("C exists"), HasSubstr("not a run"));
  EXPECT_THAT(refusal("A.verdict.state == \"wrong"), HasSubstr("without its end"));
  EXPECT_THAT(refusal("A.timing.us.p50 >"), HasSubstr("no expression"));
}

TEST_F(ObservedTest, TextsAreFilledIn) {
  EXPECT_EQ(
      observed.filled("{A.timing.us.p50} us, {B.timing.us.p50 / A.timing.us.p50} of it, {A.verdict.state}.").value(),
      "1,200 us, 0.667 of it, wrong.");
  EXPECT_EQ(observed.filled("no figure").value(), "no figure");
  EXPECT_THAT(observed.filled("{A.timing.us.p50").error().message, HasSubstr("without its }"));
}

TEST_F(ObservedTest, StepsOfASoftmax) {
  Listing code;
  code.softmax.emplace();
  SoftmaxSteps& steps = *code.softmax;
  steps.keys = 2;
  steps.visible = 6;
  steps.m = {1, 3, 3};
  steps.l = {1.5f, 1.25f, 2};
  steps.exact_m = steps.m;
  steps.exact_l = {1.5f, 1.25f, 2.125f};
  steps.scores = {1, 0, 3, 1, 3, 2};
  observed.set("S", timed(1), &code);
  EXPECT_TRUE(holds("S step \"tiles\" == 3 && S step \"m 2\" == 3 && S step \"l 3\" == 2"));
  EXPECT_TRUE(holds("S step \"exact_l 3\" == 2.125 && S step \"largest 2\" == 3"));
  EXPECT_TRUE(holds("S step \"factor 2\" > 0.1353 && S step \"factor 2\" < 0.1354")) << "exp(1 - 3)";
  EXPECT_TRUE(holds("S step \"factor 3\" == 1 && S step \"factor 1\" == 0 && S step \"added 3\" == 0.75"));
  for (const char* none : {"l 4", "l 0", "l", "x 1", "l 1 1", ""})
    EXPECT_THAT(refusal("S step \"" + std::string(none) + "\" > 0"), HasSubstr("not a finite value")) << none;
  EXPECT_THAT(refusal("A step \"l 1\" > 0"), HasSubstr("\"softmax\": ROW"));
  EXPECT_THAT(refusal("S has \"EXIT\" > 0"), HasSubstr("\"code\": true"));
}

}  // namespace
}  // namespace attnscope::lesson
