// What the rules say about the shipped kernels, through the compiler, the emulator and the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/observation.h"
#include "explain/tried.h"
#include "support/test_cache.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

class Explained : public testing::Test {
 protected:
  // The usual problem, with these knobs.
  Observation run(const char* manifest, const std::map<std::string, int64_t>& knobs = {}) {
    return run(manifest, knobs, [](Request&) {});
  }
  Observation run(const char* manifest, const std::map<std::string, int64_t>& knobs, void (*change)(Request&)) {
    Request request = small_request(cancel_);
    request.kernel = testing_support::shipped_kernel(manifest);
    request.experiment = testing_support::experiment_of(request.kernel);
    request.experiment.problem = request.kernel.default_problem();
    change(request);
    for (const auto& [knob, value] : knobs) request.experiment.config.knobs[knob] = value;
    source_ = request.kernel.source;
    const auto all = services_in(test_cache());
    ObservingSink kept;
    const auto done = run_experiment(*all, request, kept);
    if (!done) failure_ = done.error();
    return kept.observation;
  }
  static const Finding* find(const Observation& in, RuleId rule) {
    const auto found = std::ranges::find(in.findings, Rule(rule), &Finding::rule);
    return found == in.findings.end() ? nullptr : &*found;
  }
  // The rank of the rule's finding; 99: none.
  static size_t place(const Observation& in, RuleId rule) {
    const Finding* found = find(in, rule);
    return found == nullptr ? 99 : static_cast<size_t>(found - in.findings.data());
  }
  std::string line_with(const std::string& text) const {
    const size_t at = source_.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    return std::to_string(1 + std::count(source_.begin(), source_.begin() + static_cast<int64_t>(at), '\n'));
  }

  std::atomic<bool> cancel_{false};
  std::string source_;
  std::optional<Failure> failure_;
};

// One head of 64 rows, watched.
void watched(Request& request) {
  Problem& problem = request.experiment.problem;
  problem.heads = problem.kv_heads = 1;
  problem.seq_q = problem.seq_k = 64;
  request.stages.watch = true;
}

bool watch_finds(const Observation& seen, RuleId rule) {
  EXPECT_TRUE(seen.watch);
  return seen.watch && std::ranges::count(seen.watch->findings, Rule(rule), &Finding::rule) > 0;
}

// Question 1: why is VEC_WIDTH 8 no faster than 4?
TEST_F(Explained, TwoWidthsOfOneCopyAreTheSameCode) {
  const auto wide = [&](int64_t width) {
    return run("kernels/02_tiled.json", {{"VEC_WIDTH", width}}, [](Request& request) {
      request.experiment.problem.heads = request.experiment.problem.kv_heads = 1;
      request.experiment.problem.seq_q = request.experiment.problem.seq_k = 64;
    });
  };
  const Observation four = wide(4), eight = wide(8), two = wide(2);
  const auto same = explain::changes(four, eight);
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].rule, RuleId::code_identical);
  EXPECT_TRUE(explain::changes(two, four).empty());
}

// Question 3: is the light barrier sound?
TEST_F(Explained, TheLightBarrierIsARace) {
  const Observation light = run("kernels/02_tiled.json", {{"SYNC_POLICY", 2}}, watched);
  EXPECT_TRUE(watch_finds(light, RuleId::race_shared));
  EXPECT_FALSE(watch_finds(run("kernels/02_tiled.json", {{"SYNC_POLICY", 5}}, watched), RuleId::race_shared));
}

// Question 4: is a time of six warps valid?
TEST_F(Explained, WarpsThatDoNotDivideTheRowsPassABarrierUnevenly) {
  const Observation six = run("kernels/02_tiled.json", {{"NUM_WARPS", 6}}, watched);
  EXPECT_TRUE(watch_finds(six, RuleId::barrier_uneven));
  EXPECT_FALSE(watch_finds(run("kernels/02_tiled.json", {{"NUM_WARPS", 8}}, watched), RuleId::barrier_uneven));
}

// Question 9: why is the output of a fragment that goes through an array wrong?
TEST_F(Explained, AnArrayOfEachThreadDoesNotHoldAFragment) {
  const auto watch = [](Request& request) { request.stages.watch = true; };
  const Observation own = run("tests/kernels/planted/fragment_local.json", {}, watch);
  ASSERT_TRUE(watch_finds(own, RuleId::never_written_local));
  EXPECT_EQ(own.watch->findings.front().where.at("line"), line_with("c[i] = own[i]"));
  EXPECT_EQ(own.verdict->state, VerdictState::wrong);
  const Observation shared = run("tests/kernels/planted/fragment_shared.json", {}, watch);
  EXPECT_EQ(shared.verdict->state, VerdictState::correct) << shared.verdict->reason;
  EXPECT_TRUE(shared.watch->findings.empty());
}

// Question 14: what does the time of one tile say?
TEST_F(Explained, ASmallProblemIsMostlyItsLaunch) {
  const Observation small = run("tests/kernels/pairs/copy_wide.json", {},
                                [](Request& request) { request.experiment.problem.sizes["n"] = 1024; });
  EXPECT_NE(find(small, RuleId::launch_most), nullptr);
  EXPECT_EQ(find(small, RuleId::occupancy_misleading), nullptr) << "a CTA says nothing about the occupancy";
  EXPECT_EQ(find(run("kernels/02_tiled.json"), RuleId::launch_most), nullptr);
}

// Question 15: how much of the time is scalar Q·K^T, or P·V? It is measured by phase, and with other knobs it is
// another.
TEST_F(Explained, ThePhaseThatTakesMostIsMeasured) {
  const auto share_of_pv = [&](const std::map<std::string, int64_t>& knobs) {
    const Observation seen = run("kernels/02_tiled.json", knobs);
    const Finding* found = find(seen, RuleId::phase_most);
    EXPECT_NE(found, nullptr);
    if (found == nullptr) return 0.0;
    EXPECT_EQ(found->where.at("line"), line_with("float(S_tile[score_at(row, key)]) * float("));
    return found->evidence.front().value / seen.timing->p50;
  };
  const double four_warps = share_of_pv({});
  EXPECT_LT(four_warps, 0.4);
  EXPECT_GT(share_of_pv({{"SWIZZLE_XOR", 1}, {"NUM_WARPS", 1}}), four_warps + 0.1);
}

// The shipped kernel that can make one of its two products on Tensor Cores, or both.
TEST_F(Explained, TheProductsLeftToTheFp32PipeHaveAKnob) {
  const auto shorter = [](Request& request) {
    request.experiment.problem.heads = request.experiment.problem.kv_heads = 2;
    request.experiment.problem.seq_q = request.experiment.problem.seq_k = 256;
  };
  const Observation one = run("kernels/04_wmma.json", {{"TENSOR_OPS", 1}}, shorter);
  const Finding* found = find(one, RuleId::tensor_unused);
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->next);
  EXPECT_EQ(found->next->set, (std::map<std::string, int64_t>{{"TENSOR_OPS", 2}}));
  EXPECT_EQ(find(run("kernels/04_wmma.json", {}, shorter), RuleId::tensor_unused), nullptr);
}

// Question 2: why do more warps help so little? Question 7: what binds it?
TEST_F(Explained, TiledIsBoundByConflictsOfTheOneWarpThatScores) {
  const Observation seen = run("kernels/02_tiled.json", {{"NUM_WARPS", 2}});
  const Finding* lone = find(seen, RuleId::lone_warps);
  ASSERT_NE(lone, nullptr);
  // Two lines of the loop that this warp runs by itself cost about the same.
  EXPECT_THAT(lone->where.at("line"), testing::AnyOf(line_with("dot += float(q_chunk[i])"),
                                                     line_with("S_tile[score_at(row, key)] = first_key")));
  EXPECT_NEAR(lone->evidence.at(0).value, 1, 0.01);
  const Finding* conflicts = find(seen, RuleId::bank_conflicts);
  ASSERT_NE(conflicts, nullptr);
  EXPECT_EQ(conflicts->severity, Severity::warning);
  EXPECT_EQ(conflicts->where.at("line"), line_with("S_tile[score_at(row, key)] = first_key"));
  EXPECT_LT(place(seen, RuleId::bank_conflicts), 3u);
  EXPECT_EQ(find(seen, RuleId::helper_unused), nullptr);
  EXPECT_EQ(find(seen, RuleId::knob_unused), nullptr);
}

TEST_F(Explained, TheSwizzleSilencesTheConflicts) {
  const Observation seen = run("kernels/02_tiled.json", {{"SWIZZLE_XOR", 1}});
  const Finding* conflicts = find(seen, RuleId::bank_conflicts);
  EXPECT_TRUE(conflicts == nullptr || conflicts->severity == Severity::info) << conflicts->sentence;
  EXPECT_NE(find(seen, RuleId::lone_warps), nullptr) << "one warp still computes the scores";
}

// A CTA of one warp has no other warps that wait.
TEST_F(Explained, OneWarpForEverythingIsNoLoneWarp) {
  EXPECT_EQ(find(run("kernels/02_tiled.json", {{"NUM_WARPS", 1}}), RuleId::lone_warps), nullptr);
}

// Question 11: the tail; question 10: what fits on an SM.
TEST_F(Explained, TiledsTailAndItsPlaces) {
  const Observation seen = run("kernels/02_tiled.json");
  const Finding* tail = find(seen, RuleId::grid_tail);
  ASSERT_NE(tail, nullptr);
  EXPECT_LT(place(seen, RuleId::grid_tail), 3u);
  std::map<std::string, double> says;
  for (const Evidence& one : tail->evidence) says[one.name] = one.value;
  EXPECT_EQ(says.at("CTAs"), 128);
  EXPECT_EQ(says.at("places"), 116);
  EXPECT_EQ(says.at("CTAs of the last wave"), 12);
  ASSERT_TRUE(tail->next);
  EXPECT_EQ(tail->next->set, (std::map<std::string, int64_t>{{"BLOCK_M", 16}}));
  const Finding* low = find(seen, RuleId::occupancy_low);
  ASSERT_NE(low, nullptr);
  EXPECT_EQ(low->evidence.at(0).value, 2) << "CTAs on an SM";
}

// Question 5: why is it refused, and what fits?
TEST_F(Explained, ATileThatDoesNotFitIsExplainedWithTheNearestThatDoes) {
  const Observation seen = run("kernels/02_tiled.json", {{"BLOCK_M", 64}});
  ASSERT_TRUE(failure_);
  EXPECT_EQ(failure_->stage, Stage::limits);
  const Finding* found = find(seen, RuleId::limits_exceeded);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(place(seen, RuleId::limits_exceeded), 0u);
  ASSERT_TRUE(found->next);
  EXPECT_EQ(found->next->set, (std::map<std::string, int64_t>{{"SHARED", 1}}));
}

// Question 6: the tensor tile that needs more shared memory than the device has.
TEST_F(Explained, ALaunchThatAsksTooMuchSharedMemoryIsExplained) {
  const Observation seen =
      run("kernels/08_gemm_tensorop.json", {{"BLOCK_M", 128}, {"BLOCK_N", 256}, {"BLOCK_K", 64}, {"STAGES", 3}});
  const Finding* found = find(seen, RuleId::limits_exceeded);
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->sentence, testing::HasSubstr("147,456 B"));
  EXPECT_TRUE(found->next);
}

TEST_F(Explained, MinimalLoadsFarApartAndAgainAndAgain) {
  const Observation seen = run("kernels/01_minimal.json");
  EXPECT_LT(place(seen, RuleId::global_repeated), 3u);
  const Finding* scattered = find(seen, RuleId::global_scattered);
  ASSERT_NE(scattered, nullptr);
  EXPECT_LT(place(seen, RuleId::global_scattered), 3u);
  EXPECT_EQ(scattered->where.at("file"), "01_minimal.cu");
  EXPECT_NEAR(scattered->evidence.at(0).value, 32, 0.5) << "lines of a request";
  EXPECT_EQ(find(seen, RuleId::bank_conflicts), nullptr);
  // A CTA of 128 threads has 64 output columns, but the other two warps hardly wait: the time is that of a queue.
  EXPECT_EQ(find(seen, RuleId::lone_warps), nullptr);
  EXPECT_EQ(find(seen, RuleId::barrier_wait), nullptr);
}

// Kernels that were written with all these rules in mind cause no warning. If two groups of warps share the keys, one
// of them stores: the rule says so, and it is 2 % of the time.
TEST_F(Explained, TheTensorRungsDrawNoneOfTiledsWarnings) {
  for (const char* manifest : {"kernels/04_wmma.json", "kernels/05_mma.json"}) {
    const Observation seen = run(manifest);
    for (const RuleId rule : {RuleId::bank_conflicts, RuleId::idle_threads, RuleId::tensor_unused,
                              RuleId::global_scattered, RuleId::local_spill})
      if (const Finding* found = find(seen, rule)) {
        EXPECT_EQ(found->severity, Severity::info) << manifest << ": " << Rule(rule).name();
      }
    if (const Finding* lone = find(seen, RuleId::lone_warps)) {
      EXPECT_LT(*lone->gain->estimated, 0.05 * seen.timing->p50) << manifest;
    }
  }
}

// The sentence of each finding and its figures.
TEST_F(Explained, EachFindingHasASentenceAndItsGainIsLessThanTheTime) {
  const Observation seen = run("kernels/03_scalar.json");
  EXPECT_GE(seen.findings.size(), 3u);
  for (const Finding& finding : seen.findings) {
    EXPECT_TRUE(finding.sentence.ends_with('.')) << finding.sentence;
    if (!finding.gain) continue;
    EXPECT_LT(*finding.gain->estimated, seen.timing->p50) << finding.sentence;
  }
}

}  // namespace
}  // namespace attnscope::worker
