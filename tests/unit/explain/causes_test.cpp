// Which finding of a run causes another one.
#include "explain/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "explain/explain.h"
#include "explain/rules.h"
#include "unit/explain/inputs_for_tests.h"

namespace attnscope::explain {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSwizzle = "__device__ __forceinline__ int swizzled(int i) { return i ^ 7; }\n";

class CausesOfFindings : public testing::Test {
 protected:
  // The finding, after all rules have looked.
  Finding told(RuleId rule) {
    for (const Finding& one : findings_of(in_.facts))
      if (one.rule == Rule(rule)) return one;
    ADD_FAILURE() << "no " << Rule(rule).name();
    return {};
  }
  std::string because(RuleId rule) {
    const Finding finding = told(rule);
    const auto found = finding.where.find("because");
    return found == finding.where.end() ? "" : found->second;
  }
  void conflict() {
    in_.at(kScore).wavefronts = 320000;
    in_.stall(TermKind::bank_conflicts, kScore, 30);
  }
  // Two CTAs on each of 48 SMs, shared memory allows no third, and the grid has more than fit.
  void limit(int64_t total) {
    in_.facts.seen.occupancy =
        Occupancy{2, 8, 8.0 / 48, Limiter::shared_memory, double(total) / 96, total, 96, total % 96};
    in_.stall(TermKind::shared_latency, kScore, 20);
    in_.stall(TermKind::tail, 0, 20);
  }
  Input in_;
};

TEST_F(CausesOfFindings, AConflictThatAnUncalledFunctionWouldRemove) {
  conflict();
  in_.kernel.source += "__device__ int first(int i) { return i; }\n";
  EXPECT_EQ(because(RuleId::bank_conflicts), "") << "that function permutes nothing";
  in_.kernel.source += kSwizzle;
  EXPECT_EQ(because(RuleId::bank_conflicts), "helper.unused");
  EXPECT_THAT(told(RuleId::bank_conflicts).sentence, HasSubstr("swizzled() at made_up.cu:7 permutes by XOR"));
  EXPECT_EQ(told(RuleId::helper_unused).where.at("line"), "7") << "the one that would help, though it is the second";
}

TEST_F(CausesOfFindings, NoneOfAFunctionThatIsCalledOrWhereAKnobDoesIt) {
  conflict();
  in_.kernel.source += std::string(kSwizzle) + "__global__ void other(int* out) { out[swizzled(1)] = 0; }\n";
  EXPECT_EQ(because(RuleId::bank_conflicts), "");
  in_.kernel.source += "__device__ int flipped(int i) { return i ^ 7; }\n";
  in_.kernel.knobs.push_back({"FLIP", {{0, ""}, {1, ""}}, 0, ""});
  in_.facts.seen.experiment.config.knobs["FLIP"] = 0;
  in_.kernel.source += "__global__ void third(int* out) { out[FLIP ? 1 ^ 7 : 1] = 0; }\n";
  ASSERT_TRUE(told(RuleId::bank_conflicts).next);
  EXPECT_EQ(because(RuleId::bank_conflicts), "");
}

TEST_F(CausesOfFindings, ProductsThatAnUncalledFunctionWouldMake) {
  in_.facts.seen.experiment.problem.dtype = DType::f16;
  in_.kernel.source += kSwizzle;
  EXPECT_EQ(because(RuleId::tensor_unused), "");
  in_.kernel.source += "__device__ void by_wmma(F& a) { mma_sync(a, a, a, a); }\n";
  EXPECT_EQ(because(RuleId::tensor_unused), "helper.unused");
  EXPECT_THAT(told(RuleId::tensor_unused).sentence, HasSubstr("by_wmma() at made_up.cu:7 makes products by mma"));
}

TEST_F(CausesOfFindings, TheFunctionIsNamedThatWouldGainMost) {
  in_.at(kScore).wavefronts = 320000;
  in_.stall(TermKind::bank_conflicts, kScore, 5);
  in_.facts.seen.experiment.problem.dtype = DType::f16;
  in_.kernel.source += std::string(kSwizzle) + "__device__ void by_wmma(F& a) { mma_sync(a, a, a, a); }\n";
  const auto estimated = [&](RuleId rule) { return *told(rule).gain->estimated; };
  EXPECT_GT(estimated(RuleId::tensor_unused), estimated(RuleId::bank_conflicts));
  EXPECT_EQ(told(RuleId::helper_unused).where.at("function"), "by_wmma");
  in_.stall(TermKind::bank_conflicts, kScore, 30);
  EXPECT_LT(estimated(RuleId::tensor_unused), estimated(RuleId::bank_conflicts));
  EXPECT_EQ(told(RuleId::helper_unused).where.at("function"), "swizzled");
  EXPECT_EQ(told(RuleId::tensor_unused).where.at("function"), "by_wmma");
}

TEST_F(CausesOfFindings, ALastWaveThatOneMoreCtaOnEachSmWouldHold) {
  limit(130);
  EXPECT_EQ(because(RuleId::grid_tail), "occupancy.low");
  EXPECT_THAT(told(RuleId::grid_tail).sentence, HasSubstr("With one more CTA on each SM it would be one wave."));
}

TEST_F(CausesOfFindings, NotOneThatIsTooLongForIt) {
  limit(150);  // of 3 * 48
  EXPECT_EQ(because(RuleId::grid_tail), "");
  EXPECT_THAT(told(RuleId::grid_tail).sentence, Not(HasSubstr("one wave")));
}

// The last wave's CTAs would run beside others, so the share of its time that is latency is hidden.
TEST_F(CausesOfFindings, LowOccupancyCostsTheLastWavesLatencyToo) {
  limit(150);
  const double before = *told(RuleId::occupancy_low).gain->estimated;
  limit(130);
  const double waits = 2.5 + 1.5 + 1.5 + 40, tail = 40;  // us: the input's, and twice that of limit()
  EXPECT_NEAR(before, (waits - 20) / 3, 1e-9);
  EXPECT_NEAR(*told(RuleId::occupancy_low).gain->estimated, waits / 3 + tail * waits / (kTime - tail), 1e-9);
}

}  // namespace
}  // namespace attnscope::explain
