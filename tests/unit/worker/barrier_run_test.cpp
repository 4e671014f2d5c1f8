// Barriers that can go, through the compiler, the emulator and the model: a left-over one is named at its line, and
// needed ones are not, whatever the names.
#include "worker/barrier_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "explain/barriers.h"
#include "platform/atomic_file.h"
#include "support/test_cache.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char *kWrites = "// after the writes", *kReads = "// after the reads";  // smooth.cu's barriers

class Barriers : public testing::Test {
 protected:
  Kernel kernel_of(const std::string& manifest) { return testing_support::shipped_kernel(manifest.c_str()); }

  Observation watched(Kernel kernel, const std::map<std::string, int64_t>& knobs = {},
                      const std::map<std::string, int64_t>& sizes = {}, bool run = true, bool needless = true,
                      int64_t attention_rows = 0) {
    Request request = small_request(cancel_);
    request.kernel = std::move(kernel);
    request.experiment = testing_support::experiment_of(request.kernel);
    request.experiment.problem = request.kernel.default_problem();
    Problem& problem = request.experiment.problem;
    for (const auto& [size, value] : sizes) problem.sizes[size] = value;
    if (attention_rows > 0) {
      problem.heads = problem.kv_heads = 1;
      problem.seq_q = problem.seq_k = attention_rows;
    }
    for (const auto& [knob, value] : knobs) request.experiment.config.knobs[knob] = value;
    request.stages.run = run;
    request.stages.watch = true;
    request.stages.needless = needless;
    const auto services = services_in(test_cache());
    ObservingSink sink;
    const auto done = run_experiment(*services, request, sink);
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_TRUE(sink.observation.watch);
    if (!sink.observation.watch) sink.observation.watch.emplace();
    return sink.observation;
  }
  // "smooth.cu:19": the place of the first line with that text.
  static std::string place(const Kernel& kernel, const std::string& text) {
    const size_t at = kernel.source.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    const auto line = 1 + std::count(kernel.source.begin(), kernel.source.begin() + static_cast<int64_t>(at), '\n');
    return fmt::format("{}:{}", kernel.source_name, line);
  }
  // The places of the barriers that can go.
  static std::vector<std::string> lines(const Observation& seen) {
    std::vector<std::string> all;
    for (const Finding& one : seen.watch->needless) all.push_back(one.where.at("file") + ":" + one.where.at("line"));
    return all;
  }

  std::atomic<bool> cancel_{false};
  const std::string smooth_ = "tests/kernels/planted/smooth.json";
};

TEST_F(Barriers, ALeftOverOneIsNamedAtItsLine) {
  const Kernel kernel = kernel_of(smooth_);
  const Observation seen = watched(kernel);
  EXPECT_THAT(seen.watch->findings, IsEmpty());
  ASSERT_THAT(lines(seen), ElementsAre(place(kernel, kReads)));
  const Finding& found = seen.watch->needless.front();
  EXPECT_EQ(found.rule, RuleId::barrier_needless);
  EXPECT_EQ(found.severity, Severity::warning);
  EXPECT_THAT(found.sentence, HasSubstr("8 of 12 CTAs"));
  EXPECT_THAT(found.sentence, HasSubstr("with other inputs"));
  EXPECT_THAT(found.sentence, HasSubstr("no proof"));
  EXPECT_THAT(found.sentence, HasSubstr("no barrier in line "));
  ASSERT_TRUE(found.gain && found.gain->estimated);
  EXPECT_GT(*found.gain->estimated, 0.1 * seen.timing->p50);
  EXPECT_LT(*found.gain->estimated, seen.timing->p50);
  EXPECT_FALSE(found.next) << "no knob removes it";
}

// Without the second barrier a warp writes into the next round what a slower one still reads.
TEST_F(Barriers, OneThatOnlyTheNextRoundNeedsIsNeeded) {
  EXPECT_THAT(lines(watched(kernel_of(smooth_), {{"BUFFERS", 1}})), IsEmpty());
}

// Two rounds use two buffers once each, so that nothing could go wrong in them.
TEST_F(Barriers, AFewPassesOfALoopSayNothing) {
  EXPECT_THAT(lines(watched(kernel_of(smooth_), {}, {{"rounds", 2}})), IsEmpty());
  EXPECT_THAT(lines(watched(kernel_of(smooth_), {{"BUFFERS", 1}}, {{"rounds", 1}})), IsEmpty());
}

// The lanes of a warp still have to wait for each other.
TEST_F(Barriers, WhereWarpsShareNothingASyncOfTheWarpIsEnough) {
  const Observation seen = watched(kernel_of(smooth_), {{"SCOPE", 32}, {"BUFFERS", 1}});
  const Kernel kernel = kernel_of(smooth_);
  ASSERT_THAT(lines(seen), UnorderedElementsAre(place(kernel, kWrites), place(kernel, kReads)));
  for (const Finding& one : seen.watch->needless)
    EXPECT_THAT(one.sentence, HasSubstr("__syncwarp(), because the lanes"));
}

// Two barriers in a row: either can go, and not both.
TEST_F(Barriers, OfTwoInARowOneStays) {
  Kernel kernel = kernel_of(smooth_);
  const std::string barrier = std::string("__syncthreads();  ") + kWrites;
  kernel.source.replace(kernel.source.find(barrier), barrier.size(), "__syncthreads();\n    __syncthreads();");
  EXPECT_THAT(lines(watched(kernel, {{"BUFFERS", 1}})), testing::SizeIs(1));
}

TEST_F(Barriers, OtherNamesChangeNothing) {
  Kernel kernel = kernel_of(smooth_);
  const auto rename = [](std::string& text, const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  for (const auto& [from, to] : {std::pair{"smooth", "k1"},
                                 {"BUFFERS", "A7"},
                                 {"SCOPE", "B"},
                                 {"tile", "q_"},
                                 {kWrites, ""},
                                 {kReads, "// needed, keep it"}})
    rename(kernel.source, from, to);
  kernel.id = kernel.entry = "k1";
  kernel.title = "unsound";
  kernel.source_name = "x.cu";
  kernel.knobs[0].name = "A7";
  kernel.knobs[1].name = "B";
  EXPECT_THAT(lines(watched(kernel)), ElementsAre(place(kernel, "// needed, keep it")));
  EXPECT_THAT(lines(watched(kernel, {{"A7", 1}})), IsEmpty());
}

// The watch of the window runs by itself, after the run or in a process that never made it.
TEST_F(Barriers, AWatchWithoutTheRunFindsThemToo) {
  const Kernel kernel = kernel_of(smooth_);
  EXPECT_THAT(lines(watched(kernel, {}, {}, false)), ElementsAre(place(kernel, kReads)));
}

// Only who asks for it pays for the search.
TEST_F(Barriers, AWatchThatIsNotAskedToLooksForNone) {
  EXPECT_THAT(lines(watched(kernel_of(smooth_), {}, {}, true, false)), IsEmpty());
}

// Kernels in which every barrier is needed. Six tiles of keys are more than any of them holds.
TEST_F(Barriers, SoundKernelsKeepTheirs) {
  for (const char* shipped : {"02_tiled", "05_mma"}) {
    const Observation seen = watched(kernel_of(std::string("kernels/") + shipped + ".json"), {}, {}, true, true, 384);
    EXPECT_THAT(seen.watch->findings, IsEmpty()) << shipped;
    EXPECT_THAT(lines(seen), IsEmpty()) << shipped;
  }
  EXPECT_THAT(lines(watched(kernel_of("tests/kernels/pairs/sum_halves.json"), {}, {{"n", 4096}, {"parts", 16}})),
              IsEmpty());
  EXPECT_THAT(lines(watched(kernel_of("tests/kernels/pairs/transpose_tile.json"), {}, {{"R", 128}, {"C", 128}})),
              IsEmpty());
  EXPECT_THAT(lines(watched(kernel_of("tests/kernels/pairs/sgemm_tiled.json"), {}, {{"M", 64}, {"N", 64}})), IsEmpty());
}

TEST(BarrierLimits, AreWhatTheManualSays) {
  const auto manual = platform::read_file(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "docs/explaining.md", 1 << 20);
  ASSERT_TRUE(manual);
  EXPECT_THAT(*manual, HasSubstr(fmt::format("passes it at least {} times", explain::kFewestPasses)));
  EXPECT_THAT(*manual, HasSubstr(fmt::format("issue at most {} million warp instructions", kBarrierWork / 1'000'000)));
  EXPECT_THAT(*manual, HasSubstr(fmt::format("also in {} other orders of the", kBarrierOrders)));
}

}  // namespace
}  // namespace attnscope::worker
