#include "core/problem.h"

#include <gtest/gtest.h>

#include <cmath>

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

TEST(Problem, LaterKeysOverruleSAndLengthsMayDiffer) {
  auto p = problem_from_text("S=512,seq_k=100,causal=true");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->seq_q, 512);
  EXPECT_EQ(p->seq_k, 100);
  EXPECT_EQ(p->causal, Causal::bottom_right);
}

TEST(Problem, NoKeyIsGivenTwice) {
  EXPECT_EQ(problem_from_text("S=512,S=256").error().message, "--problem/S: is given twice");
  EXPECT_EQ(problem_from_text("S=512,D=64,S=512").error().message, "--problem/S: is given twice");
  EXPECT_EQ(problem_from_text("B=2,batch=4").error().message, "--problem/batch: is given twice, here and as B");
  EXPECT_EQ(problem_from_text("dist=normal,dist=large").error().hint, "Give each size once.");
  EXPECT_TRUE(problem_from_text("S=512,seq_q=1,H=8,kv_heads=2")) << "one of two that a key sets";
  Problem product;
  product.kind = ProblemKind::gemm;
  product.sizes = {{"M", 128}, {"N", 64}};
  EXPECT_FALSE(problem_from_text("M=1,M=2", product));
  EXPECT_TRUE(problem_from_text("M=1,N=2", product));
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

TEST(Problem, LimitsAreTakenAndWhatIsBeyondRefused) {
  Problem base;
  base.batch = base.heads = base.kv_heads = base.seq_q = base.seq_k = base.head_dim = 1;
  const auto taken = [](const Problem& p) { return validate(p, "x").has_value(); };
  for (const auto& [member, most] : {std::pair{&Problem::batch, int64_t{65535}},
                                     {&Problem::heads, int64_t{65535}},
                                     {&Problem::seq_q, int64_t{1} << 24},
                                     {&Problem::seq_k, int64_t{1} << 24},
                                     {&Problem::head_dim, int64_t{1024}}}) {
    for (const auto& [value, fits] :
         {std::pair{int64_t{1}, true}, {most, true}, {int64_t{0}, false}, {most + 1, false}}) {
      Problem p = base;
      p.*member = value;
      EXPECT_EQ(taken(p), fits) << value << " of at most " << most;
    }
  }
  for (const double scale : {INFINITY, -INFINITY, NAN}) {
    Problem p = base;
    p.scale = scale;
    EXPECT_FALSE(taken(p)) << scale;
    p.scale = -0.5;
    EXPECT_TRUE(taken(p));
  }
  base.heads = 1024;  // 2^34 elements are as many as a tensor may have
  base.seq_k = 1 << 24;
  EXPECT_TRUE(taken(base));
  base.head_dim = 2;
  EXPECT_FALSE(taken(base));
  Problem sized;
  sized.kind = ProblemKind::gemm;
  for (const auto& [size, fits] :
       {std::pair{int64_t{0}, true}, {int64_t{1} << 40, true}, {(int64_t{1} << 40) + 1, false}, {int64_t{-1}, false}}) {
    sized.sizes = {{"M", size}};
    EXPECT_EQ(taken(sized), fits) << size;
  }
  sized.sizes.clear();
  for (int i = 0; i < 32; ++i) sized.sizes["S" + std::to_string(i)] = 1;
  EXPECT_TRUE(taken(sized));
  sized.sizes["one more"] = 1;
  EXPECT_FALSE(taken(sized));
}

TEST(Problem, IsShownShort) {
  Problem p;
  EXPECT_EQ(short_text(p), "B1 H8 S512 D64");
  p.kv_heads = 2;
  p.seq_q = 333;
  p.causal = Causal::bottom_right;
  EXPECT_EQ(short_text(p), "B1 H8 Hkv2 Sq333 Sk512 D64 causal");
  p.causal = Causal::top_left;
  EXPECT_EQ(short_text(p), "B1 H8 Hkv2 Sq333 Sk512 D64 causal (top-left)");
  p.kind = ProblemKind::gemm;
  p.sizes = {{"M", 128}, {"K", 64}};
  EXPECT_EQ(short_text(p), "gemm K=64 M=128");
}

TEST(Problem, OfAnotherKindIsReadByItsOwnSizes) {
  Problem base;
  base.kind = ProblemKind::gemm;
  base.sizes = {{"M", 128}, {"N", 64}};
  auto p = problem_from_text("M=256,seed=3,dist=large", base);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->sizes, (std::map<std::string, int64_t>{{"M", 256}, {"N", 64}}));
  EXPECT_EQ(p->seed, 3u);
  EXPECT_EQ(p->distribution, Distribution::large);
  for (const char* text : {"S=512", "K=3", "M=x", "M=3.5"}) EXPECT_FALSE(problem_from_text(text, base)) << text;
  auto scaled = problem_from_text("scale=0.25,causal=1,H=4,kv_heads=2");
  ASSERT_TRUE(scaled) << scaled.error().message;
  EXPECT_EQ(scaled->scale, 0.25);
  EXPECT_EQ(scaled->effective_scale(), 0.25);
  EXPECT_EQ(scaled->causal, Causal::bottom_right);
  EXPECT_EQ(scaled->kv_heads, 2);
  EXPECT_EQ(scaled->kv_elements() * 2, scaled->q_elements());
  EXPECT_EQ(Problem{}.effective_scale(), 0.125);
}

TEST(Problem, CountsFlopsByTheFieldsConvention) {
  Problem p;
  EXPECT_DOUBLE_EQ(p.flops(), 4.0 * 8 * 512 * 512 * 64);
  p.causal = Causal::bottom_right;
  EXPECT_DOUBLE_EQ(p.flops(), 2.0 * 8 * 512 * 512 * 64);
  Problem gemm;
  gemm.kind = ProblemKind::gemm;
  gemm.sizes = {{"M", 3}, {"N", 5}};
  EXPECT_EQ(gemm.flops(), 0);
  gemm.sizes["K"] = 7;
  EXPECT_EQ(gemm.flops(), 2 * 3 * 5 * 7);
  gemm.sizes["B"] = 11;
  EXPECT_EQ(gemm.flops(), 2 * 3 * 5 * 7 * 11);
  gemm.kind = ProblemKind::transpose;
  EXPECT_EQ(gemm.flops(), 0) << "no convention tells";
  EXPECT_EQ(bytes_of(DType::f32), 4u);
  EXPECT_EQ(bytes_of(DType::f16), 2u);
  EXPECT_EQ(bytes_of(DType::bf16), 2u);
}

}  // namespace
}  // namespace attnscope
