// One test for each way to be wrong: a correct output with one fault, which the verdict must name.
#include "check/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "check/float_formats.h"
#include "check/guarded_buffer.h"
#include "unit/check/attention_by_hand.h"
#include "unit/check/store_element.h"

namespace attnscope::check {
namespace {

using testing::HasSubstr;

struct Case {
  Problem problem;
  AttentionInputs inputs;
  std::vector<double> exact;
  std::shared_ptr<const Reference> reference;
  std::vector<std::byte> output;  // correct

  explicit Case(Problem p, Accumulate accumulate = Accumulate::f32) : problem(p), inputs(*make_inputs(p)) {
    exact = attention_by_hand(p, inputs);
    reference = *make_reference(p, inputs, accumulate);
    output = output_of(p, exact);
  }
  int64_t at(int64_t b, int64_t h, int64_t i, int64_t d) const {
    return element_offset(problem, problem.heads, problem.seq_q, b, h, i, d);
  }
  void put(int64_t element, double value) {
    store_element(problem.dtype, output.data(), element, static_cast<float>(value));
  }
  Verdict verdict(bool partial = false) const {
    auto judged = judge(output, *reference, {partial});
    EXPECT_TRUE(judged);
    return judged ? *judged : Verdict{};
  }
  Verdict verdict_of(const std::vector<double>& values) {
    output = output_of(problem, values);
    return verdict();
  }
};

Problem small(Causal causal = Causal::none) {
  Problem p;
  p.batch = 2, p.heads = p.kv_heads = 3, p.seq_q = 40, p.seq_k = 70, p.head_dim = 32;
  p.causal = causal;
  p.seed = 11;
  return p;
}

void expect_first_bad(const Verdict& verdict, int64_t b, int64_t h, int64_t i, int64_t d) {
  ASSERT_TRUE(verdict.first_bad);
  EXPECT_EQ(verdict.first_bad->batch, b);
  EXPECT_EQ(verdict.first_bad->head, h);
  EXPECT_EQ(verdict.first_bad->row, i);
  EXPECT_EQ(verdict.first_bad->column, d);
}

TEST(Verdict, TheExactOutputRoundedIsCorrect) {
  for (Layout layout : {Layout::BHSD, Layout::BSHD}) {
    for (DType dtype : {DType::f16, DType::bf16, DType::f32}) {
      Problem p = small(Causal::bottom_right);
      p.layout = layout, p.dtype = dtype;
      if (dtype == DType::bf16) p.distribution = Distribution::uniform;  // half an ulp of values near 1 is over rtol
      const Verdict verdict = Case(p).verdict();
      EXPECT_EQ(verdict.state, VerdictState::correct) << verdict.reason;
      EXPECT_EQ(verdict.reason, "");
      EXPECT_FALSE(verdict.first_bad);
      EXPECT_EQ(verdict.rows_checked, 240);
      EXPECT_EQ(verdict.rows_total, 240);
      EXPECT_GT(verdict.cosine, 0.99999);
      EXPECT_EQ(verdict.outside_share, 0);
    }
  }
}

TEST(Verdict, FiguresOfAKnownDifference) {
  Problem p;
  p.heads = p.kv_heads = 1, p.seq_q = 2, p.seq_k = 1, p.head_dim = 2, p.dtype = DType::f32;
  p.distribution = Distribution::constant;  // one key: every element is 0.1
  Case c(p);
  const double value = static_cast<double>(0.1f);
  c.put(0, value + 0.5);
  c.put(3, value - 0.25);
  const Verdict verdict = c.verdict();
  const double got[4] = {value + 0.5, value, value, value - 0.25};
  double product = 0, norm = 0;
  for (double g : got) product += g * value, norm += g * g;
  EXPECT_NEAR(verdict.max_abs, 0.5, 1e-7);
  EXPECT_NEAR(verdict.mean_abs, 0.75 / 4, 1e-7);
  EXPECT_NEAR(verdict.rel_frobenius, std::sqrt(0.3125) / (2 * value), 1e-6);
  EXPECT_NEAR(verdict.cosine, product / (2 * value * std::sqrt(norm)), 1e-6);
  EXPECT_EQ(verdict.outside_share, 0.5);
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  expect_first_bad(verdict, 0, 0, 0, 0);
  EXPECT_NEAR(verdict.first_bad->got, value + 0.5, 1e-7);
  EXPECT_NEAR(verdict.first_bad->expected, value, 1e-12);
}

TEST(Verdict, TheCosineOfNothingIsOneOnlyWithNothing) {
  const auto cosine = [](double reference, double output, double products) {
    Comparison c;
    c.sum_sq_reference = reference, c.sum_sq_output = output, c.sum_products = products;
    Reference of;
    of.problem = small();
    return conclude(c, of).cosine;
  };
  EXPECT_EQ(cosine(0, 0, 0), 1);
  EXPECT_EQ(cosine(4, 0, 0), 0);
  EXPECT_EQ(cosine(0, 4, 0), 0);
  EXPECT_EQ(cosine(4, 9, 6), 1);
  EXPECT_EQ(cosine(4, 9, -3), -0.5);
}

TEST(Verdict, OneElementOutsideTolerance) {
  for (Layout layout : {Layout::BHSD, Layout::BSHD}) {
    Problem p = small();
    p.layout = layout;
    Case c(p);
    const double exact = c.exact[static_cast<size_t>(((1 * 3 + 2) * 40 + 17) * 32 + 5)];
    c.put(c.at(1, 2, 17, 5), exact + 1.3e-3 * (1 + std::abs(exact)));
    const Verdict verdict = c.verdict();
    EXPECT_EQ(verdict.state, VerdictState::wrong);
    expect_first_bad(verdict, 1, 2, 17, 5);
    EXPECT_THAT(verdict.reason, HasSubstr("first at batch 1, head 2, row 17, column 5"));
    EXPECT_NEAR(verdict.outside_share, 1.0 / (240 * 32), 1e-12);
    EXPECT_EQ(verdict.nonfinite, 0);
  }
}

TEST(Verdict, Fp16AccumulationAllowsTenTimesMore) {
  Case c(small(), Accumulate::f16);
  const double exact = c.exact[0];
  c.put(0, exact + 5e-3);
  Verdict verdict = c.verdict();
  EXPECT_EQ(verdict.state, VerdictState::correct) << verdict.reason;
  EXPECT_EQ(verdict.atol, 1e-2);
  c.put(0, exact + 2e-2);
  EXPECT_EQ(c.verdict().state, VerdictState::wrong);
}

TEST(Verdict, ANanInOneRow) {
  Case c(small());
  c.put(c.at(0, 1, 39, 31), std::nan(""));
  const Verdict verdict = c.verdict();
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_EQ(verdict.nonfinite, 1);
  expect_first_bad(verdict, 0, 1, 39, 31);
  EXPECT_TRUE(std::isfinite(verdict.rel_frobenius));  // the other figures are over finite elements
  EXPECT_THAT(verdict.reason, HasSubstr("NaN or Inf"));
}

TEST(Verdict, AnInfinityIsRefused) {
  Case c(small());
  c.put(7, INFINITY);
  EXPECT_EQ(c.verdict().state, VerdictState::wrong);
  EXPECT_EQ(c.verdict().nonfinite, 1);
}

TEST(Verdict, ANanWhereTheReferenceHasOneIsRight) {
  Problem p = small();
  p.scale = 3e38;
  Case c(p);
  ASSERT_FALSE(c.reference->classes.empty());
  for (int64_t i = 0; i < p.q_elements(); ++i)
    c.put(i,
          c.reference->class_of(i) == ElementClass::nan ? std::nan("") : c.reference->values[static_cast<size_t>(i)]);
  EXPECT_EQ(c.verdict().nonfinite, 0);
  int64_t nan_at = 0;
  while (c.reference->class_of(nan_at) != ElementClass::nan) ++nan_at;
  c.put(nan_at, 0.5);  // a number where NaN belongs
  const Verdict verdict = c.verdict();
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_EQ(verdict.nonfinite, 1);
  EXPECT_THAT(verdict.reason, HasSubstr("expected NaN, got 0.5"));
}

TEST(Verdict, AMaskedRowMustBeZero) {
  Problem p = small(Causal::bottom_right);
  p.seq_q = 70, p.seq_k = 40;
  Case c(p);
  EXPECT_EQ(c.verdict().state, VerdictState::correct);
  c.put(c.at(0, 0, 29, 3), 1e-4);  // well inside the tolerance
  Verdict verdict = c.verdict();
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_THAT(verdict.reason, HasSubstr("fully masked row"));
  expect_first_bad(verdict, 0, 0, 29, 3);
  c.put(c.at(0, 0, 29, 3), std::nan(""));  // 0/0 of a softmax over nothing
  verdict = c.verdict();
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_EQ(verdict.nonfinite, 1);
}

TEST(Verdict, StaleOutputWasNeverWritten) {
  Case c(small());
  const std::vector<std::byte> good = c.output;
  fill_poison(c.problem.dtype, c.output);
  Verdict verdict = c.verdict();
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_THAT(verdict.reason, HasSubstr("7680 elements were never written, first at batch 0, head 0, row 0, column 0"));
  c.output = good;
  fill_poison(c.problem.dtype, std::span(c.output).subspan(static_cast<size_t>(c.at(1, 0, 20, 30)) * 2, 4));
  verdict = c.verdict();
  EXPECT_THAT(verdict.reason, HasSubstr("2 elements were never written, first at batch 1, head 0, row 20, column 30"));
  EXPECT_EQ(verdict.nonfinite, 2);
}

TEST(Verdict, PoisonOutsideTheSampledRowsIsSeen) {
  Problem p;
  p.heads = p.kv_heads = 1, p.seq_q = p.seq_k = 4096;
  const auto inputs = *make_inputs(p);
  const auto reference = *make_reference(p, inputs, Accumulate::f32);
  ASSERT_FALSE(reference->all_rows);
  std::vector<std::byte> output(static_cast<size_t>(p.q_elements()) * 2);
  for (size_t r = 0; r < reference->rows.size(); ++r)
    for (int64_t d = 0; d < 64; ++d)
      store_element(p.dtype, output.data(), reference->rows[r] * 64 + d,
                    static_cast<float>(reference->values[r * 64 + static_cast<size_t>(d)]));
  auto verdict = *judge(output, *reference);
  EXPECT_EQ(verdict.state, VerdictState::correct) << verdict.reason;
  EXPECT_EQ(verdict.rows_checked, static_cast<int64_t>(reference->rows.size()));
  EXPECT_EQ(verdict.rows_total, 4096);
  int64_t row = 200;
  while (reference->find_row(row) >= 0) ++row;
  fill_poison(p.dtype, std::span(output).subspan(static_cast<size_t>(row) * 128, 128));
  verdict = *judge(output, *reference);
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_EQ(verdict.first_bad->row, row);
  EXPECT_EQ(judge(output, *reference, {true})->state,
            VerdictState::correct);  // only a part was requested: that row need not be computed
}

TEST(Verdict, APartialRunIsJudgedOnWhatItDid) {
  Case c(small());
  fill_poison(c.problem.dtype, std::span(c.output).subspan(static_cast<size_t>(c.at(0, 1, 0, 0)) * 2));
  Verdict verdict = c.verdict(true);
  EXPECT_EQ(verdict.state, VerdictState::correct) << verdict.reason;
  EXPECT_EQ(verdict.rows_checked, 40);
  fill_poison(c.problem.dtype, std::span(c.output).subspan(0, 2));  // a row that is half poison is not a missing row
  EXPECT_EQ(c.verdict(true).state, VerdictState::wrong);
  fill_poison(c.problem.dtype, c.output);
  EXPECT_EQ(c.verdict(true).state, VerdictState::unchecked);
}

TEST(Verdict, SwappedHeads) {
  Case c(small());
  const size_t head = 40 * 32;
  std::swap_ranges(c.exact.begin(), c.exact.begin() + head, c.exact.begin() + head);
  const Verdict verdict = c.verdict_of(c.exact);
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_GT(verdict.rel_frobenius, 0.5);
}

TEST(Verdict, CausalMaskOffByOne) {
  Problem p = small(Causal::top_left);
  Case c(p);
  Problem shifted = p;
  shifted.causal = Causal::bottom_right;
  shifted.seq_k = p.seq_q + 1;  // as bottom_right: row i sees i + 2 keys
  AttentionInputs cut = c.inputs;
  std::vector<double> wrong = c.exact;
  // Only the rows' own values matter: take the first batch and head, where K and V of both problems begin alike.
  Problem one = shifted;
  one.batch = one.heads = one.kv_heads = 1;
  const std::vector<double> head = attention_by_hand(one, cut);
  std::copy(head.begin(), head.end(), wrong.begin());
  EXPECT_EQ(c.verdict_of(c.exact).state, VerdictState::correct);
  EXPECT_EQ(c.verdict_of(wrong).state, VerdictState::wrong);
}

// A tolerance alone would be a trap here: averages of thousands of values are so small that atol accepts everything.
struct Trap : testing::Test {
  Trap() {
    p.heads = p.kv_heads = 1, p.seq_q = 4096, p.seq_k = 4096, p.head_dim = 64;  // sampled: 4.3 GFLOP
    p.distribution = Distribution::uniform;
    inputs = *make_inputs(p);
    reference = *make_reference(p, inputs, Accumulate::f32);
  }
  // Sampled rows as another problem gives them on the same inputs; the other rows are 0 and are never read.
  Verdict verdict_of(const Problem& other) {
    std::vector<std::byte> output(static_cast<size_t>(p.q_elements()) * 2);
    AttentionInputs cut = inputs;
    cut.k.resize(static_cast<size_t>(other.kv_elements()) * 2);
    cut.v.resize(static_cast<size_t>(other.kv_elements()) * 2);
    std::vector<float> row(64);
    for (int64_t r : reference->rows) {
      naive_row(other, cut, r, Accumulate::f32, false, row);
      for (int64_t d = 0; d < 64; ++d) store_element(p.dtype, output.data(), r * 64 + d, row[static_cast<size_t>(d)]);
    }
    return *judge(output, *reference);
  }
  Problem p;
  AttentionInputs inputs;
  std::shared_ptr<const Reference> reference;
};

TEST_F(Trap, ACorrectKernelPasses) {
  const Verdict verdict = verdict_of(p);
  EXPECT_EQ(verdict.state, VerdictState::correct) << verdict.reason;
  EXPECT_LT(verdict.rel_frobenius, 2.5e-4);
}

TEST_F(Trap, TheDroppedLastKeyIsCaught) {
  Problem dropped = p;
  dropped.seq_k = 4095;
  const Verdict verdict = verdict_of(dropped);
  EXPECT_EQ(verdict.outside_share, 0);  // the trap: elementwise tolerances find nothing
  EXPECT_GT(verdict.rel_frobenius, 1e-2);
  EXPECT_EQ(verdict.state, VerdictState::wrong);
  EXPECT_THAT(verdict.reason, HasSubstr("relative Frobenius"));
  EXPECT_TRUE(verdict.first_bad);
}

TEST_F(Trap, AFivePercentScaleErrorIsCaught) {
  Problem scaled = p;
  scaled.scale = 1.05 * p.effective_scale();
  const Verdict verdict = verdict_of(scaled);
  EXPECT_EQ(verdict.outside_share, 0);
  EXPECT_EQ(verdict.state, VerdictState::wrong);
}

TEST(Verdict, FivePercentScaleErrorOnNormalInputs) {
  Problem p = small();
  Case c(p);
  p.scale = 1.05 * p.effective_scale();
  EXPECT_EQ(c.verdict_of(attention_by_hand(p, c.inputs)).state, VerdictState::wrong);
}

TEST(Verdict, TheLimitFollowsTheNaiveError) {
  EXPECT_EQ(rel_frobenius_limit(0), 0x1p-11);
  EXPECT_EQ(rel_frobenius_limit(0x1p-13), 0x1p-11);
  EXPECT_EQ(rel_frobenius_limit(1e-2), 2e-2);
}

TEST(Verdict, AnotherSizeIsOurFault) {
  Case c(small());
  c.output.pop_back();
  EXPECT_EQ(judge(c.output, *c.reference).error().stage, Stage::internal);
}

TEST(Verdict, UncheckedSaysWhy) {
  const Verdict verdict = unchecked("no reference is known");
  EXPECT_EQ(verdict.state, VerdictState::unchecked);
  EXPECT_EQ(verdict.reason, "no reference is known");
}

// A kernel that leaves out the row maximum overflows with "large" inputs.
TEST(Verdict, LargeInputsOverflowExpWithoutTheRowMaximum) {
  Problem p;
  p.heads = p.kv_heads = 1, p.seq_q = p.seq_k = 128, p.distribution = Distribution::large;
  const auto inputs = *make_inputs(p);
  double highest = 0;
  for (int64_t i = 0; i < 128; ++i)
    for (int64_t j = 0; j < 128; ++j) {
      double score = 0;
      for (int64_t d = 0; d < 64; ++d)
        score += double(load_element(p.dtype, inputs.q.data(), i * 64 + d)) *
                 double(load_element(p.dtype, inputs.k.data(), j * 64 + d));
      highest = std::max(highest, score / 8);
    }
  EXPECT_GT(highest, 89);  // expf overflows above 88.7
}

}  // namespace
}  // namespace attnscope::check
