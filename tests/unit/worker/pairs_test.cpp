// Ordinary kernels, not written for the rules (tests/kernels/pairs), each in two versions. The rules tell the slower
// version from the faster one, and a finding for the slower one proposes the change that the faster one has.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/test_cache.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

struct Pair {
  const char *name, *slower, *faster;
  RuleId rule;
  const char* line;  // text that ends in the line of the slower one; empty: the whole launch
};

constexpr Pair kPairs[] = {
    {"NeighboursGoDownTheRows", "sgemm_down", "sgemm_across", RuleId::global_scattered, "sum += a[row"},
    {"EachOutputLoadsItsRowAndColumn", "sgemm_across", "sgemm_tiled", RuleId::global_repeated, "sum += a[row"},
    {"EachProductLoadsItsFactors", "sgemm_tiled", "sgemm_registers", RuleId::shared_queue, "sum += a_tile"},
    {"WrittenDownColumns", "transpose_direct", "transpose_padded", RuleId::global_scattered, "y[column * R"},
    {"ATileWithoutPadding", "transpose_tile", "transpose_padded", RuleId::bank_conflicts, "tile[threadIdx.x][i]"},
    {"ARemainderForEachStep", "sum_modulo", "sum_halves", RuleId::integer_division, "if (thread % (2"},
    {"ABarrierForEachStep", "sum_halves", "sum_shuffled", RuleId::barrier_wait,
     "+= part[thread + step];\n    __syncthreads"},
    {"AFewLargeCtas", "sum_one_cta", "sum_many_ctas", RuleId::grid_small, ""},
    {"ThreePassesOverARow", "softmax_passes", "softmax_kept", RuleId::global_repeated, "p[row * columns + i] ="},
    {"AThreadARow", "layernorm_thread", "layernorm_warp", RuleId::global_scattered, "value = x[row * columns"},
    {"ARunForEachThread", "copy_chunks", "copy_neighbours", RuleId::global_scattered, "y[i] = x[i]"},
    {"OneValueAnAccess", "copy_neighbours", "copy_wide", RuleId::global_narrow, "y[i] = x[i]"},
    {"AThreadForEachRowOfAMatrix", "matvec_thread", "matvec_warp", RuleId::global_scattered, "sum += a[row"},
    {"AScanWithBarriers", "scan_barriers", "scan_shuffles", RuleId::barrier_wait,
     "part[thread - step] : 0;\n    __syncthreads"},
    {"ConstantsWithoutASuffix", "polynomial_double", "polynomial_float", RuleId::double_used, "y[i] = 1.0 +"},
    {"AnArrayWithAnIndex", "sort_insertion", "sort_network", RuleId::local_stack, "own[at] = value"}};

Observation explained(const std::string& name, std::string& source) {
  const std::atomic<bool> cancel{false};
  Request request = small_request(cancel);
  request.kernel = testing_support::shipped_kernel("tests/kernels/pairs/" + name + ".json");
  request.experiment = testing_support::experiment_of(request.kernel);
  request.experiment.problem = request.kernel.default_problem();
  source = request.kernel.source;
  const auto services = services_in(test_cache());
  ObservingSink sink;
  const auto done = run_experiment(*services, request, sink);
  EXPECT_TRUE(done) << name << ": " << done.error().message;
  return sink.observation;
}

class Pairs : public testing::TestWithParam<Pair> {};

TEST_P(Pairs, TheSlowerIsToldFromTheFasterWithTheReason) {
  const Pair& pair = GetParam();
  std::string source, other_source;
  const Observation slower = explained(pair.slower, source), faster = explained(pair.faster, other_source);
  ASSERT_TRUE(slower.verdict && faster.verdict && slower.timing && faster.timing);
  EXPECT_EQ(slower.verdict->state, VerdictState::correct) << slower.verdict->reason;
  EXPECT_EQ(faster.verdict->state, VerdictState::correct) << faster.verdict->reason;
  EXPECT_GT(slower.timing->p50, 1.02 * faster.timing->p50);

  const auto found = std::ranges::find(slower.findings, Rule(pair.rule), &Finding::rule);
  ASSERT_NE(found, slower.findings.end()) << Rule(pair.rule).name();
  EXPECT_LT(found - slower.findings.begin(), 3);
  if (*pair.line != '\0') {
    const size_t at = source.find(pair.line);
    ASSERT_NE(at, std::string::npos);
    const auto end = source.begin() + static_cast<int64_t>(at + std::string_view(pair.line).size());
    const auto line = 1 + std::count(source.begin(), end, '\n');
    ASSERT_TRUE(found->where.contains("line"));
    EXPECT_EQ(found->where.at("line"), std::to_string(line)) << found->sentence;
  }
  for (const Finding& finding : faster.findings) {
    if (finding.rule != Rule(pair.rule)) continue;
    EXPECT_EQ(finding.severity, Severity::info) << finding.sentence;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pairs, testing::ValuesIn(kPairs),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Atomics, OfEveryThreadAtOneAddressAreNamed) {
  std::string source;
  const Observation every = explained("sum_every_thread", source), one_a_cta = explained("sum_many_ctas", source);
  ASSERT_TRUE(every.verdict && one_a_cta.verdict);
  EXPECT_EQ(every.verdict->state, VerdictState::correct) << every.verdict->reason;
  const auto found = std::ranges::find(every.findings, Rule(RuleId::atomics_meet), &Finding::rule);
  ASSERT_NE(found, every.findings.end());
  EXPECT_EQ(found->severity, Severity::warning);
  EXPECT_EQ(found->where.at("line"), "5");
  EXPECT_THAT(found->sentence, testing::HasSubstr("take 32 turns"));
  EXPECT_GT(every.timing->p50, 2 * one_a_cta.timing->p50);
}

}  // namespace
}  // namespace attnscope::worker
