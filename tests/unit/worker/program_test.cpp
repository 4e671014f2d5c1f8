// Programs of several launches, from their source to their verdict and time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "platform/atomic_file.h"
#include "support/test_cache.h"
#include "unit/worker/small_request.h"
#include "worker/list_code.h"

namespace attnscope::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kPrograms = ATTNSCOPE_SOURCE_DIR "/tests/data/programs/";

class ProgramRun : public testing::Test {
 protected:
  // The files of `name`, with the first text of each pair in `edits` replaced by the second.
  void take(const std::string& name, const std::vector<std::pair<std::string, std::string>>& edits = {}) {
    catalog::KernelText text{name + ".json", read(name + ".json"), name + ".cu", read(name + ".cu")};
    for (const auto& [from, to] : edits) {
      std::string& changed = text.source.find(from) != std::string::npos ? text.source : text.manifest;
      const size_t at = changed.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      changed.replace(at, from.size(), to);
    }
    const auto kernel = catalog::parse_kernel(text);
    ASSERT_TRUE(kernel) << kernel.error().message;
    request_.kernel = *kernel;
    request_.experiment = testing_support::experiment_of(request_.kernel);
    request_.experiment.problem = kernel->default_problem();
    request_.cancel = &cancel_;
  }
  Result<void> run(bool watch = false) {
    request_.stages.watch = watch;
    seen_ = {};
    Result<void> done = run_experiment(*services_, request_, sink_);
    seen_ = sink_.observation;
    return done;
  }
  // The number of the source's line with that text.
  std::string line_with(const std::string& text) const {
    const std::string& source = request_.kernel.source;
    return std::to_string(1 +
                          std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(source.find(text)), '\n'));
  }

  std::unique_ptr<Services> services_ = services_in(test_cache());
  std::atomic<bool> cancel_{false};
  Request request_;
  ObservingSink sink_;
  Observation seen_;

 private:
  static std::string read(const std::string& name) {
    return platform::read_file(kPrograms + name, 1 << 20).value_or("");
  }
};

TEST_F(ProgramRun, IsRightAndSaysWhatEachLaunchDid) {
  take("softmax3");
  const auto done = run(true);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_TRUE(seen_.verdict);
  EXPECT_EQ(seen_.verdict->state, VerdictState::correct) << seen_.verdict->reason;
  ASSERT_TRUE(seen_.watch);
  EXPECT_TRUE(seen_.watch->findings.empty()) << seen_.watch->findings.front().sentence;
  ASSERT_EQ(seen_.launches.size(), 4u);
  EXPECT_EQ(seen_.launches[0].name, "row_max");
  EXPECT_EQ(seen_.launches[1].name, "memset sums");
  EXPECT_FALSE(seen_.launches[1].variant);
  double us = 0;
  int64_t instructions = 0;
  for (const LaunchFigures& one : seen_.launches) {
    ASSERT_TRUE(one.timing) << one.name;
    EXPECT_GT(one.timing->p50, 0) << one.name;
    us += one.timing->p50;
    if (one.counters) instructions += one.counters->instructions.at("total");
  }
  EXPECT_EQ(seen_.launches[0].counters->total_ctas, 6);
  EXPECT_EQ(seen_.launches[2].counters->total_ctas, 12);
  ASSERT_TRUE(seen_.timing && seen_.counters && seen_.variant && seen_.occupancy);
  EXPECT_DOUBLE_EQ(seen_.timing->p50, us);
  EXPECT_EQ(seen_.counters->instructions.at("total"), instructions);
  EXPECT_EQ(seen_.counters->total_ctas, 6 + 12 + 12);
  const size_t longest = *longest_launch(seen_.launches);
  EXPECT_EQ(seen_.occupancy, seen_.launches[longest].occupancy);
  EXPECT_EQ(seen_.variant->registers, seen_.launches[longest].variant->registers);
  EXPECT_NE(seen_.variant->code_hash, seen_.launches[longest].variant->code_hash) << "it is of all";
}

TEST_F(ProgramRun, TheReferenceIsComparedAfterTheLastStep) {
  take("split_k");
  const auto done = run(true);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(seen_.verdict->state, VerdictState::correct) << seen_.verdict->reason;
  EXPECT_TRUE(seen_.watch->findings.empty()) << seen_.watch->findings.front().sentence;
  EXPECT_EQ(seen_.launches.back().name, "copy sum to c");
  take("split_k", {{"part < SPLITS; ++part) sum +=", "part < SPLITS - 1; ++part) sum +="}});
  ASSERT_TRUE(run());
  EXPECT_EQ(seen_.verdict->state, VerdictState::wrong);
}

TEST_F(ProgramRun, AMissingBarrierInTheSecondLaunchIsNamedWithItsLine) {
  take("softmax3",
       {{"own = joined(own, [](float a, float b) { return a + b; });",
         "__shared__ float all[THREADS];\n  all[threadIdx.x] = own;\n  own = all[THREADS - 1 - threadIdx.x];"}});
  ASSERT_TRUE(run(true));
  ASSERT_TRUE(seen_.watch && !seen_.watch->findings.empty());
  bool found = false;
  for (const Finding& one : seen_.watch->findings)
    if (one.rule == Rule(RuleId::race_shared)) {
      EXPECT_EQ(one.where.at("launch"), "3");
      const std::string reads = line_with("own = all[THREADS");
      found = found || one.where.at("line") == reads || one.where.at("other_line") == reads;
    }
  EXPECT_TRUE(found) << seen_.watch->findings.front().sentence;
}

TEST_F(ProgramRun, ScratchThatNoLaunchWroteIsNamedWhereItIsRead) {
  take("softmax3", {{"if (threadIdx.x == 0) most[row] = own;", "if (threadIdx.x == 0 && row > 0) most[row] = own;"}});
  ASSERT_TRUE(run(true));
  EXPECT_EQ(seen_.verdict->state, VerdictState::wrong);
  ASSERT_TRUE(seen_.watch && !seen_.watch->findings.empty());
  const Finding& first = seen_.watch->findings.front();
  EXPECT_EQ(first.rule, Rule(RuleId::never_written_global)) << first.sentence;
  EXPECT_EQ(first.where.at("launch"), "3");
  EXPECT_EQ(first.where.at("buffer"), "most");
  EXPECT_EQ(first.where.at("line"), line_with("own = __expf"));
}

TEST_F(ProgramRun, AnAccessOutOfBoundsSaysInWhichLaunch) {
  take("softmax3", {{"/= sums[row]", "/= sums[row + 6]"}});
  const auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::launch);
  EXPECT_THAT(done.error().message,
              AllOf(HasSubstr("launch 4, normalise"), HasSubstr("softmax3.cu:" + line_with("/= sums"))));
}

TEST_F(ProgramRun, ALaunchWithoutItsMemsetIsWrong) {
  take("softmax3", {{"{ \"memset\": \"sums\" }", "{ \"memset\": \"sums\", \"byte\": 63 }"}});
  ASSERT_TRUE(run());
  EXPECT_EQ(seen_.verdict->state, VerdictState::wrong) << "0x3f3f3f3f is 0.747, and not 0";
}

TEST_F(ProgramRun, ALaunchThatDoesNotFitIsNamed) {
  take("softmax3", {{"\"block\": [\"THREADS\", 1, 1],\n      \"args\": [\"y\"",
                     "\"block\": [2048, 1, 1],\n      \"args\": [\"y\""}});
  const auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::limits);
  EXPECT_THAT(done.error().message, HasSubstr("launch 4, normalise"));
}

TEST_F(ProgramRun, OnlyTheLastLaunchIsSampled) {
  take("softmax3");
  request_.experiment.problem.sizes["rows"] = 40;
  request_.experiment.measure.sampled_share = 0.1;
  ASSERT_TRUE(run());
  EXPECT_EQ(seen_.launches[0].counters->emulated_ctas, 40);
  EXPECT_EQ(seen_.launches[2].counters->emulated_ctas, 80);
  EXPECT_EQ(seen_.launches[3].counters->emulated_ctas, 8);
  EXPECT_EQ(seen_.verdict->state, VerdictState::unchecked);
}

TEST_F(ProgramRun, ItsCodeIsTheLongestLaunchsOrTheNamedOnes) {
  take("softmax3");
  const auto listed = [&](std::optional<int64_t> step) {
    return list_code(*services_, request_.experiment, request_.kernel, step, request_.compile_ms, cancel_);
  };
  const auto first = listed({});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->launch, "launch 1, row_max") << "nothing ran yet";
  ASSERT_TRUE(run());
  const size_t longest = *longest_launch(seen_.launches);
  EXPECT_EQ(listed({})->launch, "launch " + std::to_string(longest + 1) + ", " + seen_.launches[longest].name);
  EXPECT_TRUE(listed({})->counted);
  EXPECT_EQ(listed(3)->launch, "launch 4, normalise");
  EXPECT_EQ(listed(3)->emulated_ctas, 12);
  const auto memset = listed(1);
  ASSERT_FALSE(memset);
  EXPECT_THAT(memset.error().hint, HasSubstr("launch 3, exp_sum"));
}

// Cancels at one of the steps of progress that a watch tells; 0: at none.
struct SinkThatCancels final : Sink {
  SinkThatCancels(std::atomic<bool>& to_set, int step) : cancel(to_set), at(step) {}
  void part(std::vector<protocol::PartValue>, bool) override {}
  void tile(Tile) override {}
  void progress(protocol::Step step, int64_t, int64_t) override {
    if (step == protocol::Step::watching && ++steps == at) cancel = true;
  }
  std::atomic<bool>& cancel;
  const int at;
  int steps = 0;
};

// From its first step to its last, in the search for needless barriers too.
TEST_F(ProgramRun, AWatchEndsWhereverItIsCancelled) {
  take("softmax3");
  request_.stages.watch = request_.stages.needless = true;
  SinkThatCancels whole(cancel_, 0);
  ASSERT_TRUE(run_experiment(*services_, request_, whole));
  ASSERT_GT(whole.steps, 2);
  for (const int at : {1, whole.steps / 2, whole.steps - 1, whole.steps}) {
    cancel_ = false;
    SinkThatCancels sink(cancel_, at);
    const auto done = run_experiment(*services_, request_, sink);
    if (done) continue;  // the last step may be all that was left
    EXPECT_EQ(done.error().stage, Stage::cancelled) << done.error().message;
  }
}

}  // namespace
}  // namespace attnscope::worker
