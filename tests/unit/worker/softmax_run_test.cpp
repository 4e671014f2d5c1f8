// A kernel's online softmax, stepped: its own m, l, scores and O against fp64.
#include "worker/softmax_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "catalog/validate.h"
#include "check/inputs.h"
#include "support/test_cache.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;

struct Case {
  const char* name;
  const char* problem;
  std::map<std::string, int64_t> knobs;
  SoftmaxRow row;
};

Request request_for(const std::string& kernel, const Case& one, const std::atomic<bool>& cancel) {
  Request request;
  request.kernel = testing_support::shipped_kernel("kernels/" + kernel + ".json");
  request.experiment = testing_support::experiment_of(request.kernel);
  request.experiment.problem = problem_from_text(one.problem, request.experiment.problem).value();
  request.experiment.config = catalog::complete_config(request.kernel, one.knobs, request.kernel.options).value();
  request.stages = {.run = false};
  request.cancel = &cancel;
  return request;
}

// The row in fp64 from its inputs, not online: all of the first `keys` keys at once.
struct Exact {
  double m = -std::numeric_limits<double>::infinity(), l = 0;
  std::vector<double> scores, o;
};
Exact exact_after(const Problem& p, const SoftmaxRow& row, int64_t keys) {
  Exact exact;
  const int64_t q_at = ((row.batch * p.heads + row.head) * p.seq_q + row.row) * p.head_dim;
  const int64_t kv_at = (row.batch * p.kv_heads + row.head) * p.seq_k * p.head_dim;
  for (int64_t key = 0; key < keys; ++key) {
    double score = 0;
    for (int64_t d = 0; d < p.head_dim; ++d)
      score += double(check::input_element(p, check::Tensor::q, q_at + d)) *
               double(check::input_element(p, check::Tensor::k, kv_at + key * p.head_dim + d));
    exact.scores.push_back(score / std::sqrt(double(p.head_dim)));
    exact.m = std::max(exact.m, exact.scores.back());
  }
  exact.o.resize(size_t(p.head_dim));
  for (int64_t key = 0; key < keys; ++key) {
    const double weight = std::exp(exact.scores[size_t(key)] - exact.m);
    exact.l += weight;
    for (int64_t d = 0; d < p.head_dim; ++d)
      exact.o[size_t(d)] += weight * double(check::input_element(p, check::Tensor::v, kv_at + key * p.head_dim + d));
  }
  return exact;
}

class SoftmaxRun : public testing::Test {
 protected:
  Result<SoftmaxSteps> step(const Request& request, const SoftmaxRow& row) {
    ObservingSink sink;
    auto steps = step_softmax(*services_, request, row, sink);
    EXPECT_FALSE(sink.observation.variant) << "an answer has no parts";
    return steps;
  }
  std::unique_ptr<Services> services_ = services_in(test_cache());
  std::atomic<bool> cancel_{false};
};

// fp32 with another order of summation: 1e-5 of the largest value.
TEST_F(SoftmaxRun, EachTileIsWhatFp64Says) {
  const Case cases[] = {
      {"the default", "B=1,H=2,S=256,D=64,causal=none", {}, {0, 1, 45}},
      {"two states a lane",
       "B=1,H=1,S=128,D=64,causal=none",
       {{"NUM_WARPS", 1}, {"BLOCK_M", 64}, {"SHARED", 1}},
       {0, 0, 127}},
      {"swizzled, its row 0", "B=2,H=1,S=128,D=64,causal=none", {{"SWIZZLE_XOR", 1}, {"BLOCK_N", 32}}, {1, 0, 0}},
      {"serial", "B=1,H=1,S=128,D=64,causal=none", {{"REDUCE_WARP", 0}, {"NUM_WARPS", 8}}, {0, 0, 31}},
      {"masked",
       "B=1,H=1,S=256,D=128,causal=top_left",
       {{"BLOCK_M", 16}, {"BLOCK_N", 32}, {"SWIZZLE_XOR", 1}},
       {0, 0, 100}},
      {"a ragged end", "B=1,H=1,S=100,D=64,causal=none", {}, {0, 0, 99}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const Request request = request_for("02_tiled", one, cancel_);
    const Problem& p = request.experiment.problem;
    const auto made = step(request, one.row);
    ASSERT_TRUE(made) << made.error().message;
    const int64_t visible = visible_keys(p, one.row.row);
    EXPECT_EQ(made->visible, visible);
    ASSERT_EQ(made->keys, request.experiment.config.knobs.at("BLOCK_N"));
    ASSERT_GE(int64_t(made->steps()) * made->keys, visible);
    ASSERT_GE(made->steps(), 2u);
    Exact exact;
    for (size_t tile = 0; tile < made->steps(); ++tile) {
      SCOPED_TRACE(tile);
      exact = exact_after(p, one.row, std::min(visible, int64_t(tile + 1) * made->keys));
      EXPECT_NEAR(double(made->m[tile]), exact.m, 1e-5 * std::fabs(exact.m));
      EXPECT_NEAR(double(made->l[tile]), exact.l, 1e-5 * exact.l);
      EXPECT_NEAR(double(made->exact_m[tile]), exact.m, 1e-6 * std::fabs(exact.m));
      EXPECT_NEAR(double(made->exact_l[tile]), exact.l, 1e-6 * exact.l);
      for (size_t d = 0; d < exact.o.size(); ++d)
        EXPECT_NEAR(double(o_of(*made, tile)[d]), exact.o[d], 1e-5 * exact.l * 6) << "column " << d;
      for (int64_t i = 0; i < made->keys; ++i) {
        const int64_t key = int64_t(tile) * made->keys + i;
        const double score = double(scores_of(*made, tile)[size_t(i)]);
        const double weight = double(weights_of(*made, tile)[size_t(i)]);
        if (key >= visible) {
          EXPECT_EQ(score, -std::numeric_limits<double>::infinity()) << "key " << key;
          EXPECT_EQ(weight, 0) << "key " << key;
          continue;
        }
        EXPECT_NEAR(score, exact.scores[size_t(key)], 1e-5 * 6) << "key " << key;
        EXPECT_NEAR(weight, std::exp(exact.scores[size_t(key)] - exact.m), 1e-5) << "key " << key;
      }
    }
    ASSERT_EQ(made->output.size(), size_t(p.head_dim));
    for (size_t d = 0; d < exact.o.size(); ++d) {
      const double whole = double(o_of(*made, made->steps() - 1)[d]) / double(made->l.back());
      EXPECT_NEAR(double(made->output[d]), whole, std::ldexp(std::fabs(whole), -11) + 1e-7)
          << "O divided by l is stored";
    }
  }
}

// Scores, probabilities and outputs are rounded to halves: 2^-11 of each, and l sums the rounded values.
TEST_F(SoftmaxRun, HalvesInSharedMemoryAreReadAsHalves) {
  const Case one{"", "B=1,H=1,S=128,D=64,causal=none", {{"SO_TYPE", 1}, {"SWIZZLE_XOR", 1}}, {0, 0, 77}};
  const Request request = request_for("02_tiled", one, cancel_);
  const auto made = step(request, one.row);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->steps(), 2u);
  const Exact exact = exact_after(request.experiment.problem, one.row, 128);
  EXPECT_NEAR(double(made->m[1]), exact.m, 1e-3 * std::fabs(exact.m));
  EXPECT_NEAR(double(made->l[1]), exact.l, 4e-3 * exact.l);
  for (size_t i = 0; i < 64; ++i)
    EXPECT_NEAR(double(scores_of(*made, 1)[i]), exact.scores[64 + i],
                1e-3 * std::max(1.0, std::fabs(exact.scores[64 + i])));
  for (size_t d = 0; d < 64; ++d) EXPECT_NEAR(double(o_of(*made, 1)[d]), exact.o[d], 4e-3 * exact.l) << d;
}

// The steps name lines of the source, whatever the config unrolls.
TEST_F(SoftmaxRun, NamesTheLinesWhereItRead) {
  const Case one{"", "B=1,H=1,S=128,D=64,causal=none", {}, {}};
  const Request request = request_for("02_tiled", one, cancel_);
  const auto made = step(request, {});
  ASSERT_TRUE(made) << made.error().message;
  const auto line = [&](int64_t number) {
    std::istringstream in(request.kernel.source);
    std::string text;
    for (int64_t i = 0; i < number; ++i) std::getline(in, text);
    return text;
  };
  EXPECT_THAT(line(made->m_line), HasSubstr("fmaxf(old_max, warp_max[warp])"));
  EXPECT_THAT(line(made->l_line), HasSubstr("running_sum[state] * rescale"));
  EXPECT_THAT(line(made->scores_line), HasSubstr("S_tile[score_at(row, key)]"));
  EXPECT_THAT(line(made->end_line), HasSubstr("the next tile overwrites K, V and S"));
}

TEST_F(SoftmaxRun, WhatCannotBeSteppedSaysWhy) {
  const Case one{"", "B=1,H=2,S=64,D=64,causal=none", {}, {}};
  Request request = request_for("02_tiled", one, cancel_);
  EXPECT_THAT(step(request, {0, 2, 0}).error().message, HasSubstr("has no batch 0, head 2, row 0"));
  EXPECT_THAT(step(request, {0, 0, 64}).error().message, HasSubstr("row 64"));
  const auto refusal = [&](auto change) {
    Request other = request;
    change(*other.kernel.softmax);
    const auto made = step(other, {});
    return made ? std::string("none") : made.error().message;
  };
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.l.op = "DADD"; }), HasSubstr("has no DADD in this config's code"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.o->buffer = "none"; }), HasSubstr("has no buffer none"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.o->byte = "100000"; }), HasSubstr("past the end of O_tile"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.o->byte = "4 * column + 2"; }),
              HasSubstr("byte 2 of O_tile is not where 4 bytes of an element start"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.o->byte = "2 * column + 1"; }),
              HasSubstr("byte 1 of O_tile is not where 2 bytes of an element start"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.m.turn = "8"; }), HasSubstr("wrote m 8 times"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.m.lane = "32"; }), HasSubstr("a warp has 32 lanes"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.l.warp = "32"; }), HasSubstr("softmax/l/warp: a CTA has 32 warps"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.unit = "0"; }), HasSubstr("softmax/unit: must be above 0"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.rows = "0"; }), HasSubstr("no rows"));
  EXPECT_THAT(refusal([](SoftmaxPlaces& p) { p.scores = p.weights = p.o = std::nullopt; }), "none");
  Request minimal = request_for("01_minimal", one, cancel_);
  EXPECT_THAT(step(minimal, {}).error().message, HasSubstr("does not say where its softmax keeps m and l"));
  cancel_ = true;
  EXPECT_EQ(step(request, {}).error().stage, Stage::cancelled);
}

}  // namespace
}  // namespace attnscope::worker
