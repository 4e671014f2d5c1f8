#include "model/roofline.h"

#include <gtest/gtest.h>

namespace attnscope::model {
namespace {

// 0.537 GFLOP, 2.1 MB, 4.4 us on an L4's Tensor Cores.
TEST(Roofline, TheReportsShape) {
  const Problem problem;
  EXPECT_EQ(problem.flops(), 4.0 * 8 * 512 * 512 * 64);
  EXPECT_EQ(compulsory_bytes(problem), 4.0 * 8 * 512 * 64 * 2);
  EXPECT_NEAR(problem.flops() / 121e12 * 1e6, 4.44, 0.01);
}

TEST(Roofline, Tflops) {
  const Problem problem;
  EXPECT_NEAR(tflops(problem, 47), 11.42, 0.01);
  EXPECT_EQ(tflops(problem, 0), 0);
  Problem causal = problem;
  causal.causal = Causal::bottom_right;
  EXPECT_EQ(tflops(causal, 47), tflops(problem, 47) / 2);
}

TEST(Roofline, GroupedHeadsReadFewerKeys) {
  Problem problem;
  problem.kv_heads = 2;
  EXPECT_EQ(compulsory_bytes(problem), (2 * 8 + 2 * 2) * 512.0 * 64 * 2);
}

// 300 rows and 500 keys: row i sees the keys up to i, or up to i + 200.
TEST(Roofline, WhatAMaskHidesIsNotRead) {
  Problem problem;
  problem.seq_q = 300, problem.seq_k = 500;
  const double row = 8 * 64 * 2;
  EXPECT_EQ(compulsory_bytes(problem), (2 * 300 + 2 * 500) * row);
  problem.causal = Causal::bottom_right;
  EXPECT_EQ(compulsory_bytes(problem), (2 * 300 + 2 * 500) * row);
  problem.causal = Causal::top_left;
  EXPECT_EQ(compulsory_bytes(problem), (2 * 300 + 2 * 300) * row);
  problem.seq_q = 500, problem.seq_k = 300;
  EXPECT_EQ(compulsory_bytes(problem), (2 * 500 + 2 * 300) * row);
  problem.causal = Causal::bottom_right;
  EXPECT_EQ(compulsory_bytes(problem), (500 + 300 + 2 * 300) * row) << "the first 200 rows see no key";
}

}  // namespace
}  // namespace attnscope::model
