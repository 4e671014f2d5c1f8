#include "core/problem.h"

#include <gtest/gtest.h>

#include "core/json.h"

namespace attnscope {
namespace {

TEST(Problem, ReadsTheCommandLinesForm) {
  auto p = problem_from_text("B=2,H=4,S=333,D=128,causal=bottom_right,seed=7,dist=uniform");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->batch, 2);
  EXPECT_EQ(p->heads, 4);
  EXPECT_EQ(p->kv_heads, 4);
  EXPECT_EQ(p->seq_q, 333);
  EXPECT_EQ(p->seq_k, 333);
  EXPECT_EQ(p->head_dim, 128);
  EXPECT_EQ(p->causal, Causal::bottom_right);
  EXPECT_EQ(p->seed, 7u);
  EXPECT_EQ(p->distribution, Distribution::uniform);
}

TEST(Problem, LaterKeysWinAndLengthsMayDiffer) {
  auto p = problem_from_text("S=512,seq_k=100,causal=true");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->seq_q, 512);
  EXPECT_EQ(p->seq_k, 100);
  EXPECT_EQ(p->causal, Causal::bottom_right);
}

TEST(Problem, RefusesAtTheDoor) {
  for (const char* text : {"S=0", "S=-1", "S=abc", "S", "=3", "unknown=3", "D=4096", "causal=sideways", "dist=zipf",
                           "seed=-1", "H=8,kv_heads=3", "B=65535,H=65535,S=65536", "scale=x", "S=5.5"}) {
    auto p = problem_from_text(text);
    ASSERT_FALSE(p) << text;
    EXPECT_EQ(p.error().stage, Stage::input) << text;
    EXPECT_NE(p.error().message.find("--problem"), std::string::npos) << p.error().message;
  }
}

TEST(Problem, GoesThroughJsonUnchanged) {
  Problem p;
  p.causal = Causal::top_left;
  p.scale = 0.5;
  p.seed = 18446744073709551615u;
  auto back = problem_from_json(to_json(p), "x.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, p);
}

TEST(Problem, NamesTheFileAndPointerOfAWrongField) {
  auto p = problem_from_json(Json{{"seq_q", "32 -DX"}}, "mine.json/problem");
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().message.find("mine.json/problem/seq_q"), std::string::npos);
}

TEST(Problem, VisibleKeysFollowTheMask) {
  Problem p;
  p.seq_q = 4;
  p.seq_k = 6;
  EXPECT_EQ(visible_keys(p, 0), 6);
  p.causal = Causal::top_left;
  EXPECT_EQ(visible_keys(p, 0), 1);
  EXPECT_EQ(visible_keys(p, 3), 4);
  p.causal = Causal::bottom_right;
  EXPECT_EQ(visible_keys(p, 0), 3);
  EXPECT_EQ(visible_keys(p, 3), 6);
  p.seq_k = 2;  // more queries than keys: the first rows see nothing
  EXPECT_EQ(visible_keys(p, 0), 0);
  EXPECT_EQ(visible_keys(p, 3), 2);
}

TEST(Problem, CountsFlopsByTheFieldsConvention) {
  Problem p;
  EXPECT_DOUBLE_EQ(p.flops(), 4.0 * 8 * 512 * 512 * 64);
  p.causal = Causal::bottom_right;
  EXPECT_DOUBLE_EQ(p.flops(), 2.0 * 8 * 512 * 512 * 64);
}

}  // namespace
}  // namespace attnscope
