// Experiments on a GPU through session, supervisor and executor, as the window and the command line run them.
#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>

#include "catalog/catalog.h"
#include "core/json.h"
#include "gpu_fixture.h"
#include "platform/clock.h"

namespace attnscope::gpu_tests {
namespace {

using testing::HasSubstr;

const Kernel& kernel(const catalog::Catalog& all, const std::string& id) {
  return *std::find_if(all.kernels.begin(), all.kernels.end(), [&](const Kernel& k) { return k.id == id; });
}

// Every kernel in its default config, and with each value of each of its knobs. A config that a restriction or a limit
// refuses has a message; every other config has a verdict and a time.
TEST_F(SessionOnGpu, EveryKernelAndEveryKnobIsMeasuredWithAVerdict) {
  const catalog::Catalog all = catalog::load_catalog({source_tree() / "kernels"});
  ASSERT_TRUE(all.failures.empty());
  int measured = 0, refused = 0;
  for (const Kernel& k : all.kernels) {
    if (!k.library.is_source()) continue;  // cublas_test.cpp; PyTorch has its own worker
    std::vector<std::map<std::string, int64_t>> configs{{}};
    for (const Knob& knob : k.knobs)
      for (const KnobValue& value : knob.values)
        if (value.value != knob.default_value) configs.push_back({{knob.name, value.value}});
    std::vector<std::future<Observation>> runs;
    for (const auto& config : configs) {
      Draft one = draft(k.id, config);
      if (k.problem != ProblemKind::attention) one.problem = k.default_problem(), one.config.options = k.options;
      runs.push_back(session_->queue(std::move(one)));
    }
    for (auto& one : runs) {
      const Observation o = one.get();
      SCOPED_TRACE(k.id + " " + short_text(o.experiment.config, k));
      if (o.failure) {
        EXPECT_TRUE(o.failure->stage == Stage::limits || o.failure->stage == Stage::input) << said(o);
        EXPECT_FALSE(o.failure->hint.empty());
        ++refused;
        continue;
      }
      ++measured;
      // The published tiling with six warps races, as its manifest warns.
      const bool races =
          o.experiment.config.knobs.contains("NUM_WARPS") && o.experiment.config.knobs.at("NUM_WARPS") == 6;
      if (!races) expect_measured(o);
    }
  }
  RecordProperty("measured", measured);
  RecordProperty("refused", refused);
  EXPECT_GE(measured, 10);
}

TEST_F(SessionOnGpu, ProblemsOfEveryKindAreRight) {
  for (const char* problem :
       {"B=1,H=2,S=333,D=64", "B=2,H=2,S=130,D=64,causal=bottom_right",
        "B=1,H=2,seq_q=96,seq_k=130,D=64,causal=top_left", "B=1,H=2,seq_q=150,seq_k=70,D=64,causal=bottom_right",
        "B=1,H=2,S=130,D=128", "B=1,H=2,S=130,D=64,dist=large"}) {
    SCOPED_TRACE(problem);
    expect_measured(run(draft("minimal", {}, problem)));
    expect_measured(run(draft("tiled", {{"SHARED", 1}}, problem)));
  }
}

TEST_F(SessionOnGpu, ACooperativeLaunchWaitsForItsGrid) {
  const catalog::Catalog all = catalog::load_catalog({source_tree() / "tests/kernels/cooperative"});
  Draft heat = draft("heat", {});
  heat.problem = kernel(all, "heat").default_problem();
  const Observation o = run(heat);
  expect_measured(o);
  EXPECT_EQ(o.verdict->against, "heat_of_one_cta");
  EXPECT_EQ(o.verdict->max_abs, 0);
  heat.problem.sizes["ctas"] = 1'000'000;
  const Observation large = run(heat);
  ASSERT_TRUE(large.failure);
  EXPECT_EQ(large.failure->stage, Stage::limits) << said(large);
}

TEST_F(SessionOnGpu, WrongKernelsAreRefused) {
  const auto all = catalog::load_catalog({source_tree() / "tests/mutants/wrong"});
  const auto text = [] {
    std::ifstream in(source_tree() / "tests/mutants/expected.json");
    return std::string{std::istreambuf_iterator<char>(in), {}};
  }();
  const Json expected = parse_json(text, "expected.json").value()["wrong"];
  const Kernel& mutants = kernel(all, "mutants");
  for (const Json& one : expected["cases"]) {
    SCOPED_TRACE(one.dump());
    Draft wrong = draft("mutants", {}, one["problem"].get<std::string>());
    const Knob& knob = mutants.knobs.front();
    for (const KnobValue& value : knob.values)
      if (value.text() == one["mutation"].get<std::string>()) wrong.config.knobs[knob.name] = value.value;
    const Observation o = run(wrong);
    ASSERT_TRUE(o.verdict) << said(o);
    EXPECT_EQ(to_string(o.verdict->state), one["state"].get<std::string>()) << o.verdict->reason;
  }
}

TEST_F(SessionOnGpu, ColdIsTimedWithTheEmptyKernelBesideIt) {
  Draft cold = draft("tiled");
  cold.measure.cache = CacheState::cold;
  const Observation o = run(cold);
  expect_measured(o);
  EXPECT_EQ(o.timing->cache, CacheState::cold);
  ASSERT_TRUE(o.timing->sampling && o.timing->sampling->empty_us);
  EXPECT_GT(*o.timing->sampling->empty_us, 0.5);
  EXPECT_LT(*o.timing->sampling->empty_us, o.timing->p50);
  const Observation hot = run(draft("tiled"));
  EXPECT_GT(o.timing->p50, hot.timing->p50);
}

TEST_F(SessionOnGpu, AnIllegalAddressEndsAnExecutorAndNothingElse) {
  expect_measured(run(draft("tiled")));
  const Observation o = run(draft("illegal_address"));
  ASSERT_TRUE(o.failure);
  EXPECT_EQ(o.failure->stage, Stage::launch);
  EXPECT_THAT(o.failure->message, HasSubstr("illegal_address ROWS=1 on cuda:0"));
  EXPECT_THAT(o.failure->message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_TRUE(o.variant) << "what was known before it failed is kept";
  expect_measured(run(draft("tiled")));
}

TEST_F(SessionOnGpu, AnEndlessKernelIsEndedAtItsDeadline) {
  expect_measured(run(draft("tiled")));
  const double begun = platform::steady_ms();
  const Observation o = run(draft("endless"));
  const double took = platform::steady_ms() - begun;
  ASSERT_TRUE(o.failure);
  EXPECT_EQ(o.failure->stage, Stage::deadline);
  EXPECT_THAT(o.failure->message, HasSubstr("endless ROWS=1 on cuda:0"));
  RecordProperty("answered_after_ms", std::to_string(took));
  expect_measured(run(draft("tiled")));
}

TEST_F(GpuTest, TheFirstExperimentTakesTheFirstGpuAndSaysSo) {
  const char* program = std::getenv("ATTNSCOPE");
  session::SessionOptions options;
  options.kernel_dirs = {source_tree() / "kernels"};
  options.preset_dirs = {source_tree() / "presets"};  // the default experiment is a preset's
  options.assets_dir = source_tree() / "assets";
  options.workers = {{"local", {program ? program : ATTNSCOPE_PROGRAM, "worker"}}};
  options.watch_files = false;
  std::mutex mutex;
  std::condition_variable changed;
  auto session = session::Session::start(options, [&] { changed.notify_one(); });
  ASSERT_TRUE(session) << session.error().message;
  std::unique_lock lock(mutex);
  const auto timed = [&] {
    const auto shown = (*session)->snapshot()->focus.shown;
    return shown && shown->timing && shown->timing->kind == FigureKind::measured;
  };
  const double begun = platform::steady_ms();
  while (!timed() && platform::steady_ms() - begun < 60000) changed.wait_for(lock, std::chrono::milliseconds(50));
  ASSERT_TRUE(timed());
  EXPECT_EQ((*session)->snapshot()->focus.wanted.device, "cuda:0");
  EXPECT_EQ((*session)->snapshot()->focus.wanted.kernel, "tiled");
  (*session)->stop();
}

class ManyFaults : public SessionOnGpu {
 protected:
  ManyFaults() { launch_deadline_ms = 400; }
};

// Good, crashing and hanging configs in turn: each gets an answer that says what it did.
TEST_F(ManyFaults, TwoHundredAlternationsLoseNoObservation) {
  constexpr int kRuns = 200;
  std::vector<std::future<Observation>> runs;
  for (int i = 0; i < kRuns; ++i) {
    const char* which = i % 4 == 1 ? "illegal_address" : i % 4 == 3 ? "endless" : i % 8 == 0 ? "tiled" : "minimal";
    runs.push_back(session_->queue(draft(which)));
  }
  int good = 0, crashed = 0, hung = 0;
  for (int i = 0; i < kRuns; ++i) {
    SCOPED_TRACE(i);
    const Observation o = runs[static_cast<size_t>(i)].get();
    if (i % 4 == 1) {
      ASSERT_TRUE(o.failure);
      crashed += o.failure->stage == Stage::launch && o.experiment.kernel == "illegal_address";
    } else if (i % 4 == 3) {
      ASSERT_TRUE(o.failure);
      hung += o.failure->stage == Stage::deadline && o.experiment.kernel == "endless";
    } else {
      expect_measured(o);
      good += !o.failure;
    }
  }
  EXPECT_EQ(good, 100);
  EXPECT_EQ(crashed, 50);
  EXPECT_EQ(hung, 50);
}

}  // namespace
}  // namespace attnscope::gpu_tests
