#include "check/reference.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <cmath>
#include <set>

#include "check/float_formats.h"
#include "unit/check/attention_by_hand.h"
#include "unit/check/store_element.h"

namespace attnscope::check {
namespace {

Problem problem_of(int64_t batch, int64_t heads, int64_t kv_heads, int64_t seq_q, int64_t seq_k, int64_t head_dim,
                   Causal causal = Causal::none) {
  Problem p;
  p.batch = batch, p.heads = heads, p.kv_heads = kv_heads, p.seq_q = seq_q, p.seq_k = seq_k, p.head_dim = head_dim;
  p.causal = causal;
  p.seed = 3;
  return p;
}

std::shared_ptr<const Reference> reference_of(const Problem& p, Accumulate accumulate = Accumulate::f32,
                                              int threads = 1) {
  const auto inputs = make_inputs(p);
  ReferenceOptions options;
  options.threads = threads;
  auto reference = make_reference(p, *inputs, accumulate, options);
  EXPECT_TRUE(reference) << reference.error().message;
  return reference ? *reference : nullptr;
}

void expect_equal_by_hand(const Problem& p) {
  const auto inputs = make_inputs(p);
  const std::vector<double> expected = attention_by_hand(p, *inputs);
  const auto reference = reference_of(p);
  ASSERT_TRUE(reference->all_rows);
  ASSERT_EQ(reference->values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(reference->values[i], expected[i], 1e-12) << short_text(p) << " element " << i;
}

TEST(Reference, EqualsTheAttentionWrittenForReading) {
  for (Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right}) {
    expect_equal_by_hand(problem_of(1, 2, 2, 64, 64, 64, causal));
    expect_equal_by_hand(problem_of(2, 4, 2, 13, 37, 20, causal));  // grouped heads, nothing divides
    expect_equal_by_hand(problem_of(1, 3, 1, 70, 5, 33, causal));   // one key head, masked rows
    expect_equal_by_hand(problem_of(1, 1, 1, 1, 1, 1, causal));
  }
}

TEST(Reference, EveryDistributionTypeAndLayout) {
  for (Distribution distribution :
       {Distribution::normal, Distribution::uniform, Distribution::large, Distribution::constant}) {
    for (DType dtype : {DType::f16, DType::bf16, DType::f32}) {
      Problem p = problem_of(2, 2, 1, 9, 40, 24, Causal::bottom_right);
      p.distribution = distribution, p.dtype = dtype, p.layout = Layout::BSHD;
      p.scale = 0.3;
      expect_equal_by_hand(p);
    }
  }
}

TEST(Reference, EverySimdLevelAgrees) {
  const Problem p = problem_of(1, 2, 2, 33, 65, 40, Causal::bottom_right);
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    expect_equal_by_hand(p);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Reference, ThreadsDoNotChangeIt) {
  const Problem p = problem_of(1, 2, 1, 200, 100, 32, Causal::top_left);
  const auto one = reference_of(p, Accumulate::f32, 1), five = reference_of(p, Accumulate::f32, 5);
  EXPECT_EQ(one->values, five->values);
  EXPECT_EQ(one->naive_rel_frobenius, five->naive_rel_frobenius);
}

TEST(Reference, AFullyMaskedRowIsZero) {
  const Problem p = problem_of(1, 1, 1, 10, 4, 8, Causal::bottom_right);
  const auto reference = reference_of(p);
  for (size_t i = 0; i < 6 * 8; ++i) EXPECT_EQ(reference->values[i], 0) << i;
  EXPECT_NE(reference->values[6 * 8], 0);
}

// The naive error from the simple row function, compared with the SIMD code's sum.
TEST(Reference, NaiveErrorIsThatOfTheNaiveRows) {
  for (Accumulate accumulate : {Accumulate::f32, Accumulate::f16}) {
    for (DType dtype : {DType::f16, DType::bf16}) {
      Problem p = problem_of(1, 2, 2, 40, 80, 48, Causal::top_left);
      p.dtype = dtype;
      const auto inputs = make_inputs(p);
      const auto reference = reference_of(p, accumulate);
      double difference = 0, norm = 0;
      std::vector<float> row(48);
      for (int64_t r = 0; r < 80; ++r) {
        naive_row(p, *inputs, r, accumulate, true, row);
        for (size_t d = 0; d < 48; ++d) {
          const double exact = reference->values[static_cast<size_t>(r) * 48 + d];
          difference += (row[d] - exact) * (row[d] - exact), norm += exact * exact;
        }
      }
      const double expected = std::sqrt(difference / norm);
      EXPECT_NEAR(reference->naive_rel_frobenius / expected, 1, 0.02) << to_string(dtype);
      EXPECT_GT(expected, dtype == DType::bf16 ? 1e-3 : 1e-4);
    }
  }
}

TEST(Reference, Fp16AccumulationIsWorseThanFp32) {
  const Problem p = problem_of(1, 1, 1, 32, 256, 64);
  EXPECT_GT(reference_of(p, Accumulate::f16)->naive_rel_frobenius,
            2 * reference_of(p, Accumulate::f32)->naive_rel_frobenius);
}

TEST(Reference, NonFiniteElementsAreThoseOfFp32) {
  Problem p = problem_of(1, 1, 1, 6, 40, 16);
  p.scale = 3e38;  // scores overflow fp32, and their differences are NaN
  const auto inputs = make_inputs(p);
  const auto reference = reference_of(p);
  ASSERT_FALSE(reference->classes.empty());
  std::vector<float> row(16);
  int64_t nans = 0;
  for (int64_t r = 0; r < 6; ++r) {
    naive_row(p, *inputs, r, Accumulate::f32, false, row);
    for (int64_t d = 0; d < 16; ++d) {
      EXPECT_EQ(reference->class_of(r * 16 + d) == ElementClass::nan, std::isnan(row[static_cast<size_t>(d)]));
      nans += std::isnan(row[static_cast<size_t>(d)]);
    }
  }
  EXPECT_GT(nans, 0);
}

TEST(Reference, ScoresBeyondHalfAreNotNonFinite) {
  Problem p = problem_of(1, 1, 1, 8, 32, 64);
  p.distribution = Distribution::large;
  p.scale = 1000;  // scores of millions: infinite as halves, plain numbers in fp32
  const auto reference = reference_of(p);
  EXPECT_TRUE(reference->classes.empty());
}

TEST(Reference, AnInfiniteInputIsFollowed) {
  const Problem p = problem_of(1, 1, 1, 4, 8, 4);
  auto inputs = make_inputs(p);
  store_element(p.dtype, inputs->v.data(), 5, INFINITY);  // key 1, column 1
  const auto reference = make_reference(p, *inputs, Accumulate::f32);
  ASSERT_TRUE(reference);
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_EQ((*reference)->class_of(i), i % 4 == 1 ? ElementClass::plus_inf : ElementClass::finite) << i;
}

TEST(ReferenceRows, AllUpToTwoGflop) {
  EXPECT_EQ(reference_rows(problem_of(1, 8, 8, 512, 512, 64)).size(), 8u * 512);
  EXPECT_EQ(reference_rows(problem_of(1, 7, 7, 1024, 1024, 64)).size(), 7u * 1024);  // 1.88 GFLOP
  EXPECT_LT(reference_rows(problem_of(1, 8, 8, 1024, 1024, 64)).size(), 8u * 1024);  // 2.15 GFLOP
}

TEST(ReferenceRows, TheSampleHoldsWhatItMust) {
  for (const Problem& p : {problem_of(1, 2, 2, 4096, 4096, 64), problem_of(2, 16, 16, 3001, 4096, 64)}) {
    const auto rows = reference_rows(p);
    const std::set<int64_t> set(rows.begin(), rows.end());
    ASSERT_EQ(set.size(), rows.size());
    ASSERT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    for (int64_t head = 0; head < p.batch * p.heads; ++head)
      for (int64_t i : {int64_t{0}, p.seq_q - 1, int64_t{15}, int64_t{16}, int64_t{63}, int64_t{64}, int64_t{128},
                        (p.seq_q - 1) / 64 * 64, (p.seq_q - 1) / 32 * 32 - 1})
        ASSERT_TRUE(set.count(head * p.seq_q + i)) << head << " " << i;
    EXPECT_GE(rows.size(), 256u);
    EXPECT_LT(rows.back(), p.batch * p.heads * p.seq_q);
  }
  Problem other = problem_of(1, 2, 2, 4096, 4096, 64);
  const auto first = reference_rows(other);
  other.seed += 1;
  EXPECT_NE(first, reference_rows(other));
}

TEST(ReferenceRows, SampledRowsHoldTheSameValues) {
  const Problem p = problem_of(1, 1, 1, 4096, 4096, 64, Causal::bottom_right);  // 4.3 GFLOP
  const auto inputs = make_inputs(p);
  const auto reference = reference_of(p, Accumulate::f32, 2);
  ASSERT_FALSE(reference->all_rows);
  EXPECT_EQ(reference->find_row(1), -1 + (reference->rows[1] == 1 ? 2 : 0));
  std::vector<float> row(64);
  for (size_t r = 0; r < reference->rows.size(); r += 37) {
    EXPECT_EQ(reference->find_row(reference->rows[r]), static_cast<int64_t>(r));
    naive_row(p, *inputs, reference->rows[r], Accumulate::f32, false, row);
    for (size_t d = 0; d < 64; ++d) EXPECT_NEAR(reference->values[r * 64 + d], static_cast<double>(row[d]), 2e-6);
  }
}

TEST(Reference, Refusals) {
  Problem p = problem_of(1, 1, 1, 4, 4, 4);
  const auto inputs = make_inputs(p);
  p.kind = ProblemKind::gemm;
  EXPECT_EQ(make_reference(p, *inputs, Accumulate::f32).error().stage, Stage::check);
  p.kind = ProblemKind::attention;
  p.seq_k = 1 << 24, p.head_dim = 64;
  EXPECT_EQ(make_reference(p, *inputs, Accumulate::f32).error().stage, Stage::check);
  p.seq_k = 5, p.head_dim = 4;
  EXPECT_EQ(make_reference(p, *inputs, Accumulate::f32).error().stage, Stage::internal);
  p.seq_k = 4;
  std::atomic<bool> cancel{true};
  EXPECT_EQ(make_reference(p, *inputs, Accumulate::f32, {1, &cancel}).error().stage, Stage::cancelled);
  EXPECT_FALSE(parse_word<Accumulate>("f64"));
  EXPECT_EQ(*parse_word<Accumulate>("f16"), Accumulate::f16);
}

}  // namespace
}  // namespace attnscope::check
