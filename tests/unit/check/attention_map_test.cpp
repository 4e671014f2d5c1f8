#include "check/attention_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "check/float_formats.h"
#include "check/inputs.h"
#include "check/reference.h"

namespace attnscope::check {
namespace {

Problem small(Causal causal) {
  Problem p;
  p.batch = 2;
  p.heads = 4;
  p.kv_heads = 2;
  p.seq_q = 37;
  p.seq_k = 53;
  p.head_dim = 64;
  p.causal = causal;
  return p;
}

ViewRequest of_head(int64_t batch, int64_t head, int width = 0, int height = 0) {
  ViewRequest request;
  request.map = MapKind::attention;
  request.batch = batch;
  request.head = head;
  request.width = width;
  request.height = height;
  return request;
}

// The matrix times V is the reference's output: it is the matrix that the verdict uses.
TEST(AttentionMap, TimesVIsTheReference) {
  for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right}) {
    const Problem p = small(causal);
    const auto inputs = make_inputs(p);
    ASSERT_TRUE(inputs);
    const auto reference = make_reference(p, *inputs, Accumulate::f32);
    ASSERT_TRUE(reference);
    const auto tile = make_attention_tile(of_head(1, 3), p, 3);
    ASSERT_TRUE(tile) << tile.error().message;
    ASSERT_EQ(tile->width, 53);
    ASSERT_EQ(tile->height, 37);
    for (int64_t row = 0; row < p.seq_q; ++row)
      for (int64_t d = 0; d < p.head_dim; ++d) {
        double sum = 0;
        for (int64_t key = 0; key < p.seq_k; ++key)
          sum += static_cast<double>(tile->values[static_cast<size_t>(row * p.seq_k + key)]) *
                 static_cast<double>(
                     load_element(p.dtype, inputs->v.data(), element_offset(p, p.kv_heads, p.seq_k, 1, 1, key, d)));
        const int64_t at = (*reference)->find_row((1 * p.heads + 3) * p.seq_q + row) * p.head_dim + d;
        ASSERT_NEAR(sum, (*reference)->values[static_cast<size_t>(at)], 1e-6) << "row " << row << " column " << d;
      }
  }
}

TEST(AttentionMap, MaskedKeysAndRowsAreZeroAndRowsSumToOne) {
  Problem p = small(Causal::bottom_right);
  p.seq_k = 20;  // shorter than seq_q: the first rows see no key
  const auto tile = make_attention_tile(of_head(0, 0), p);
  ASSERT_TRUE(tile);
  for (int64_t row = 0; row < p.seq_q; ++row) {
    double sum = 0;
    for (int64_t key = 0; key < p.seq_k; ++key) {
      const float weight = tile->values[static_cast<size_t>(row * p.seq_k + key)];
      if (key >= visible_keys(p, row)) {
        EXPECT_EQ(weight, 0) << row << ", " << key;
      }
      sum += static_cast<double>(weight);
    }
    EXPECT_NEAR(sum, visible_keys(p, row) > 0 ? 1 : 0, 1e-6) << row;
  }
}

TEST(AttentionMap, ATexelHoldsTheLargestWeightUnderIt) {
  const Problem p = small(Causal::none);
  const auto whole = make_attention_tile(of_head(0, 2), p), coarse = make_attention_tile(of_head(0, 2, 10, 7), p, 2);
  ASSERT_TRUE(whole && coarse);
  ASSERT_EQ(coarse->width, 10);
  ASSERT_EQ(coarse->height, 7);
  for (int64_t y = 0; y < 7; ++y)
    for (int64_t x = 0; x < 10; ++x) {
      float largest = 0;
      for (int64_t row = y * p.seq_q / 7; row < (y + 1) * p.seq_q / 7; ++row)
        for (int64_t key = x * p.seq_k / 10; key < (x + 1) * p.seq_k / 10; ++key)
          largest = std::max(largest, whole->values[static_cast<size_t>(row * p.seq_k + key)]);
      EXPECT_EQ(coarse->values[static_cast<size_t>(y * 10 + x)], largest) << x << ", " << y;
    }
}

TEST(AttentionMap, WhatTheProblemLacksIsRefused) {
  const Problem p = small(Causal::none);
  EXPECT_FALSE(make_attention_tile(of_head(2, 0), p));
  EXPECT_FALSE(make_attention_tile(of_head(0, 4), p));
  Problem large = p;
  large.seq_q = large.seq_k = 2048;
  const auto refused = make_attention_tile(of_head(0, 0), large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::input);
}

}  // namespace
}  // namespace attnscope::check
