#include "worker/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "catalog/catalog.h"
#include "core/observation.h"
#include "core/sampled_line.h"
#include "faults/support/worker_client.h"
#include "platform/atomic_file.h"
#include "platform/memory.h"
#include "support/temp_dir.h"
#include "unit/worker/counting_device.h"
#include "unit/worker/small_request.h"
#include "worker/sampled_lines.h"
#include "worker/variant_request.h"
#include "worker/watch_run.h"

namespace attnscope::worker {
namespace {

using testing::HasSubstr;

class Collected final : public Sink {
 public:
  void part(std::vector<protocol::PartValue> values, bool final) override {
    const protocol::Part part{0, std::move(values), final};
    counters += has(part, &Observation::counters);
    apply_part(observation, part);
    if (on_findings && has(part, &Observation::findings)) on_findings();
  }
  void tile(Tile tile) override { tiles.push_back(std::move(tile)); }
  void progress(protocol::Step step, int64_t done, int64_t) override {
    if (steps.empty() || steps.back() != step) steps.push_back(step);
    if (step == protocol::Step::measuring) launches.push_back(done);
    if (on_step) on_step(step);
  }
  Observation observation;
  std::vector<Tile> tiles;
  std::vector<protocol::Step> steps;
  std::vector<int64_t> launches;  // timed so far, as each progress told it
  int counters = 0;               // parts that hold some
  std::function<void(protocol::Step)> on_step;
  std::function<void()> on_findings;
};

// Runs its input as a GPU does: without counters.
class SilentDevice : public device::Device {
 public:
  SilentDevice(std::shared_ptr<device::Device> runs, DeviceSpec spec)
      : runs_(std::move(runs)), spec_(std::move(spec)) {}
  const DeviceSpec& spec() const override { return spec_; }
  Result<std::shared_ptr<const device::Loaded>> load(const compile::Variant& variant) override {
    return runs_->load(variant);
  }
  Result<device::LaunchOutcome> run(const device::LaunchRequest& request, const device::LaunchEvents&) override {
    auto outcome = runs_->run(request, {});
    if (outcome) outcome->counters.reset(), outcome->emulated.reset();
    return outcome;
  }

 private:
  std::shared_ptr<device::Device> runs_;
  DeviceSpec spec_;
};

class PipelineTest : public testing::Test {
 protected:
  ~PipelineTest() override {
    platform::inject_write_fault(std::nullopt);
    platform::inject_available_memory(std::nullopt);
  }

  std::unique_ptr<Services> services() const { return services_in(folder_.path()); }

  testing_support::TempDir folder_;
  std::atomic<bool> cancel_{false};
  Request request_ = small_request(cancel_);
  Collected collected_;
};

TEST_F(PipelineTest, StagesInOrder) {
  using protocol::Step;
  const auto all = services();
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(collected_.steps, (std::vector{Step::compiling, Step::limits, Step::emulating, Step::checking}));
  const Observation& o = collected_.observation;
  EXPECT_EQ(o.device, request_.experiment.device);
  EXPECT_EQ(o.versions.app, "test");
  EXPECT_FALSE(o.versions.nvrtc.empty());
  ASSERT_TRUE(o.variant);
  EXPECT_GT(o.variant->registers, 0);
  EXPECT_EQ(o.variant->arch, 89);
  EXPECT_FALSE(o.variant->code_hash.empty());
  ASSERT_TRUE(o.occupancy);
  EXPECT_GT(o.occupancy->ctas_per_sm, 0);
  ASSERT_TRUE(o.counters);
  EXPECT_EQ(o.counters->emulated_ctas, o.counters->total_ctas);
  EXPECT_EQ(o.verdict->state, VerdictState::correct);
  ASSERT_TRUE(o.timing);
  EXPECT_EQ(o.timing->kind, FigureKind::modelled);
  EXPECT_GT(o.timing->p50, 0);
}

TEST_F(PipelineTest, KnownMachineCodeEndsTheRunAfterItsLimits) {
  using protocol::Step;
  const auto all = services();
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  request_.known_codes = {"another", collected_.observation.variant->code_hash};
  Collected again;
  ASSERT_TRUE(run_experiment(*all, request_, again));
  EXPECT_EQ(again.steps, (std::vector{Step::compiling, Step::limits}));
  EXPECT_TRUE(again.observation.occupancy);
  EXPECT_FALSE(again.observation.timing);
  request_.known_codes = {"another"};
  Collected whole;
  ASSERT_TRUE(run_experiment(*all, request_, whole));
  EXPECT_TRUE(whole.observation.timing);
}

TEST_F(PipelineTest, OneOfManyTakesNoShownRunsPlace) {
  const auto all = services();
  const ViewRequest map{.experiment_hash = hash_of(request_.experiment), .width = 4, .height = 4};
  request_.keeps_output = false;
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  EXPECT_FALSE(all->kept.view(map));
  request_.keeps_output = true;
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  EXPECT_TRUE(all->kept.view(map));
}

TEST_F(PipelineTest, WhatComesNextIsCompiledMeanwhile) {
  const auto all = services();
  Experiment next = request_.experiment;
  next.config.options.fmad = false;
  Experiment bad = next;
  bad.config.knobs["NONE"] = 1;
  request_.ahead = {bad, next, next};
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  const auto variants = [&] {
    std::error_code none;
    size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path() / "variants", none))
      count += file.is_regular_file() ? 1 : 0;
    return count;
  };
  while (variants() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  request_.experiment = next;
  request_.ahead.clear();
  Collected after;
  ASSERT_TRUE(run_experiment(*all, request_, after));
  EXPECT_TRUE(after.observation.variant->cached);
  EXPECT_EQ(variants(), 2u) << "a config that is not valid is not compiled";
}

struct AheadTest : PipelineTest {
  AheadTest() {
    counting = count_runs(*all, request_.experiment.device);
    next.config.options.fmad = false;
    all->ahead.begin({all->compiler, counting, request_.kernel, next});
    while (!all->ahead.is_done(next)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    request_.ahead = {next};
  }
  Request of_next() const {
    Request request = request_;
    request.experiment = next;
    request.ahead.clear();
    request.stages = {};
    return request;
  }
  void wait_for_runs(int count) const {
    for (int ms = 0; counting->begun < count && ms < 60000; ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(counting->begun, count);
  }

  std::unique_ptr<Services> all = services();
  std::shared_ptr<CountingDevice> counting;
  Experiment next = request_.experiment;
};

TEST_F(AheadTest, TheNextRunBeginsInTheEmulatorAndIsTheSame) {
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  wait_for_runs(2);
  Collected begun, own;
  ASSERT_TRUE(run_experiment(*all, of_next(), begun));
  EXPECT_EQ(counting->begun, 2) << "it had begun";
  ASSERT_TRUE(run_experiment(*all, of_next(), own));
  EXPECT_EQ(counting->begun, 3);
  EXPECT_EQ(begun.steps, own.steps);
  EXPECT_EQ(begun.observation.counters, own.observation.counters);
  EXPECT_EQ(begun.observation.verdict, own.observation.verdict);
  EXPECT_EQ(begun.observation.timing, own.observation.timing);
  EXPECT_EQ(begun.observation.findings, own.observation.findings);
}

TEST_F(AheadTest, AnotherRunTakesNothingOfIt) {
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  wait_for_runs(2);
  Request other = of_next();
  other.experiment.problem.seed = 7;
  ASSERT_TRUE(run_experiment(*all, other, collected_));
  EXPECT_EQ(counting->begun, 3);
  ASSERT_TRUE(run_experiment(*all, of_next(), collected_));
  EXPECT_EQ(counting->begun, 4) << "it was dropped";
}

// The cancel comes when nothing remains in the run that could notice it.
TEST_F(AheadTest, WhatIsCancelledAtItsVeryEndTakesTheNextRunAlong) {
  collected_.on_findings = [&] {
    wait_for_runs(2);
    cancel_ = true;
  };
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  ASSERT_TRUE(cancel_);
  cancel_ = false;
  collected_.on_findings = {};
  ASSERT_TRUE(run_experiment(*all, of_next(), collected_));
  EXPECT_EQ(counting->begun, 3) << "what had begun was dropped";
}

TEST_F(AheadTest, NoneBeginsWhoseCodeIsKnownOrBesideAWatch) {
  ASSERT_TRUE(run_experiment(*all, of_next(), collected_));
  request_.known_codes = {collected_.observation.variant->code_hash};
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  request_.known_codes.clear();
  request_.stages.watch = true;
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  const int before = counting->begun;
  ASSERT_TRUE(run_experiment(*all, of_next(), collected_));
  EXPECT_EQ(counting->begun, before + 1);
}

// The next request has another reference, and asking for it would end the making of this run's.
TEST_F(AheadTest, NoneBeginsThatIsHeldToAnotherReference) {
  request_.kernel = testing_support::shipped_kernel("kernels/02_tiled.json");
  const Problem problem = request_.experiment.problem;
  request_.experiment = testing_support::experiment_of(request_.kernel);
  request_.experiment.problem = problem;
  next = request_.experiment;
  next.config.knobs["SO_TYPE"] = 1;
  all->ahead.begin({all->compiler, counting, request_.kernel, next});
  while (!all->ahead.is_done(next)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  request_.ahead = {next};
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(counting->begun, 1);
  EXPECT_EQ(collected_.observation.verdict->state, VerdictState::correct);
}

TEST_F(PipelineTest, ADeviceThatIsNotHereIsRefusedWithThoseThatAre) {
  const auto all = services();
  request_.experiment.device = "cuda:7";
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::device);
  EXPECT_EQ(done.error().message, "there is no device cuda:7 here");
  EXPECT_THAT(done.error().hint, HasSubstr("emulated:a100, "));
  EXPECT_TRUE(collected_.steps.empty());
  all->devices.clear();
  EXPECT_EQ(run_experiment(*all, request_, collected_).error().hint, "No device is known.");
}

TEST_F(PipelineTest, ALibrarysKernelNeedsADeviceThatHasIt) {
  request_.kernel.library = LibraryId::cublas;
  const auto all = services();
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::device);
}

TEST_F(PipelineTest, AWatchWithoutAnEmulatedTwinSaysSo) {
  const auto all = services();
  const auto emulated = all->find_device(request_.experiment.device);
  ASSERT_TRUE(emulated);
  DeviceSpec spec = (*emulated)->spec();
  spec.emulated = false;
  spec.id = request_.experiment.device = "cuda:0";
  all->devices = {std::make_shared<SilentDevice>(*emulated, spec)};
  request_.stages = {.run = false, .watch = true};
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::device);
  EXPECT_EQ(done.error().message, "no emulated device of sm_89 is known to watch on");
}

TEST_F(PipelineTest, AFullDiskCostsNothingButTheCache) {
  platform::inject_write_fault(platform::WriteFault{.path_part = folder_.path().string(), .after_bytes = 100});
  for (int i = 0; i < 2; ++i) {
    const auto all = services();
    const auto done = run_experiment(*all, request_, collected_);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(collected_.observation.verdict->state, VerdictState::correct);
    EXPECT_FALSE(collected_.observation.variant->cached);
  }
  size_t left = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
    left += entry.is_regular_file();
  EXPECT_EQ(left, 0u) << "nothing half-written stays";
}

TEST_F(PipelineTest, LittleMemoryIsARefusalThatSaysHowMuch) {
  const auto all = services();
  platform::inject_available_memory(1000);
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::limits);
  EXPECT_THAT(done.error().message, HasSubstr("GB are available"));
}

TEST_F(PipelineTest, CancellingIsSeenAtEveryStage) {
  using protocol::Step;
  const auto all = services();
  for (const Step step : {Step::compiling, Step::limits, Step::emulating, Step::checking}) {
    cancel_ = false;
    Collected collected;
    collected.on_step = [&](Step at) { cancel_ = cancel_ || at == step; };
    const auto done = run_experiment(*all, request_, collected);
    if (step == Step::checking && done) continue;  // the reference was there: nothing was left to wait for
    ASSERT_FALSE(done) << to_string(step);
    EXPECT_EQ(done.error().stage, Stage::cancelled);
    EXPECT_EQ(collected.steps.back(), step);
  }
}

TEST_F(PipelineTest, AMapThatTheProblemDoesNotHaveIsNoFailureOfTheRun) {
  request_.first_view = ViewRequest{.experiment_hash = "x", .head = 99};
  const auto all = services();
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  EXPECT_TRUE(collected_.tiles.empty());
}

TEST_F(PipelineTest, AnIncompleteConfigIsRefused) {
  request_.kernel = testing_support::shipped_kernel("kernels/02_tiled.json");
  request_.experiment = testing_support::experiment_of(request_.kernel);
  request_.experiment.config.knobs.erase("NUM_WARPS");
  const auto all = services();
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::input);
  EXPECT_THAT(done.error().message, HasSubstr("every knob"));
}

// The reports' light barrier: the race that it leaves, the lines and the buffer, and that the output is right only by
// luck.
TEST_F(PipelineTest, AWatchNamesTheRaceOfTheLightBarrier) {
  request_.kernel = testing_support::shipped_kernel("kernels/02_tiled.json");
  request_.experiment = testing_support::experiment_of(request_.kernel);
  Problem& problem = request_.experiment.problem;
  problem.heads = problem.kv_heads = 1;
  problem.seq_q = problem.seq_k = 128;
  request_.experiment.config.knobs["SYNC_POLICY"] = 0;
  request_.stages.watch = true;
  const auto all = services();
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_TRUE(collected_.observation.watch);
  EXPECT_EQ(collected_.steps.back(), protocol::Step::watching);
  const WatchReport& report = *collected_.observation.watch;
  EXPECT_EQ(report.fills, 3);
  EXPECT_EQ(report.orders, 8);
  const auto race = std::find_if(report.findings.begin(), report.findings.end(),
                                 [](const Finding& finding) { return finding.rule == RuleId::race_shared; });
  ASSERT_NE(race, report.findings.end());
  EXPECT_EQ(race->where.at("file"), "02_tiled.cu");
  EXPECT_NE(race->where.at("line"), race->where.at("other_line"));
  EXPECT_FALSE(race->where.at("buffer").empty());
  EXPECT_TRUE(race->where.contains("threads"));
  const auto luck = std::find_if(report.findings.begin(), report.findings.end(),
                                 [](const Finding& finding) { return finding.rule == RuleId::luck_order; });
  ASSERT_NE(luck, report.findings.end());
  EXPECT_THAT(luck->sentence, HasSubstr("Right by luck: with the warps in order "));
  EXPECT_EQ(luck->severity, Severity::error);
}

// In a larger grid only some CTAs are watched. The rows of the others are not written, and the run is not wrong for
// that.
TEST_F(PipelineTest, LuckIsSeenOnASampleOfTheCtas) {
  request_.kernel = testing_support::shipped_kernel("kernels/02_tiled.json");
  request_.experiment = testing_support::experiment_of(request_.kernel);
  Problem& problem = request_.experiment.problem;
  problem.heads = problem.kv_heads = 9;
  problem.seq_q = problem.seq_k = 128;
  request_.experiment.config.knobs["SYNC_POLICY"] = 0;
  request_.stages = {.run = false, .watch = true};
  const auto all = services();
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  const WatchReport& report = *collected_.observation.watch;
  ASSERT_LT(report.ctas, report.total_ctas);
  const auto luck = std::ranges::find(report.findings, Rule(RuleId::luck_order), &Finding::rule);
  ASSERT_NE(luck, report.findings.end());
  EXPECT_EQ(luck->severity, Severity::error) << luck->sentence;
}

// A pipeline that fetches one tile past the last reads memory that nothing has written, and uses none of it.
TEST_F(PipelineTest, AReadThatComesToNothingIsAWarning) {
  const std::string body = "__shared__ float warp_scratch[kWarps];", plain = request_.kernel.source;
  const size_t at = plain.find(body);
  ASSERT_NE(at, std::string::npos);
  const std::string read =
      "\n  __shared__ float never[32];\n  const float unwritten = ((volatile float*)never)[threadIdx.x % 32];\n";
  struct Expected {
    const char* use;
    Severity severity;
    bool says_so;
  };
  for (const auto& [use, severity, says_so] :
       {Expected{"", Severity::warning, true},
        Expected{"  if (unwritten != 0.0f) scale *= 2;\n", Severity::error, false}}) {
    request_.kernel.source = std::string(plain).insert(at + body.size(), read + use);
    request_.stages = {.run = false, .watch = true};
    Collected collected;
    const auto all = services();
    const auto done = run_experiment(*all, request_, collected);
    ASSERT_TRUE(done) << done.error().message;
    const auto& findings = collected.observation.watch->findings;
    const auto found = std::ranges::find(findings, Rule(RuleId::never_written_shared), &Finding::rule);
    ASSERT_NE(found, findings.end());
    EXPECT_EQ(found->severity, severity);
    EXPECT_EQ(found->sentence.find("The output does not depend on it") != std::string::npos, says_so)
        << found->sentence;
    EXPECT_EQ(collected.observation.watch->has_errors(), !says_so);
  }
}

TEST_F(PipelineTest, AWatchWithoutARunOfACorrectKernelFindsNothing) {
  request_.stages = {.run = false, .watch = true};
  const auto all = services();
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_TRUE(collected_.observation.watch);
  for (const Finding& finding : collected_.observation.watch->findings) ADD_FAILURE() << finding.sentence;
  EXPECT_FALSE(collected_.observation.verdict);
}

TEST_F(PipelineTest, AWatchOfAGpusKernelBringsTheEmulatorsCounts) {
  const auto all = services();
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  const Counters counted = *collected_.observation.counters;
  const Bound bound = collected_.observation.timing->bound;
  ASSERT_NE(bound, Bound::unknown);

  const auto emulated = all->find_device(request_.experiment.device);
  ASSERT_TRUE(emulated);
  DeviceSpec spec = (*emulated)->spec();
  spec.id = request_.experiment.device = "cuda:0";
  spec.emulated = false;
  all->devices.push_back(std::make_shared<SilentDevice>(*emulated, spec));
  Collected on_gpu;
  ASSERT_TRUE(run_experiment(*all, request_, on_gpu));
  EXPECT_EQ(on_gpu.observation.counters, std::nullopt);
  EXPECT_EQ(on_gpu.observation.versions.gpu, spec.name);
  EXPECT_EQ(collected_.observation.versions.gpu, "") << "an emulated device is no GPU";
  Timing measured;
  measured.kind = FigureKind::measured;
  measured.p50 = 12;
  on_gpu.observation.timing = measured;
  request_.stages = {.run = false, .watch = true};
  ASSERT_TRUE(run_experiment(*all, request_, on_gpu));
  EXPECT_EQ(on_gpu.observation.counters, counted);
  EXPECT_EQ(on_gpu.observation.timing->bound, bound);
  EXPECT_EQ(on_gpu.observation.timing->p50, 12);
  EXPECT_EQ(on_gpu.observation.device, "cuda:0");
  EXPECT_TRUE(on_gpu.observation.watch->findings.empty());
}

// Says what it has counted a hundred times before it begins.
class TalkativeDevice final : public device::Device {
 public:
  explicit TalkativeDevice(std::shared_ptr<device::Device> runs) : runs_(std::move(runs)) {}
  const DeviceSpec& spec() const override { return runs_->spec(); }
  Result<std::shared_ptr<const device::Loaded>> load(const compile::Variant& variant) override {
    return runs_->load(variant);
  }
  Result<device::LaunchOutcome> run(const device::LaunchRequest& request, const device::LaunchEvents& events) override {
    for (int i = 0; i < 100; ++i) events.on_counters({});
    return runs_->run(request, {});
  }

 private:
  std::shared_ptr<device::Device> runs_;
};

TEST_F(PipelineTest, ProgressIsNotSentEachTimeThatItIsTold) {
  const auto all = services();
  auto& device =
      *std::ranges::find(all->devices, request_.experiment.device, [](const auto& one) { return one->spec().id; });
  device = std::make_shared<TalkativeDevice>(device);
  ASSERT_TRUE(run_experiment(*all, request_, collected_));
  EXPECT_GE(collected_.counters, 2) << "at once, and at the end";
  EXPECT_LE(collected_.counters, 10) << "a machine may be slow";
}

// A GPU that reports its counters, or why it does not; it counts how often it was asked for a time.
class ProfiledDevice final : public SilentDevice {
 public:
  using SilentDevice::SilentDevice;
  Result<HardwareCounters> profile(const device::LaunchRequest&,
                                   const std::function<void(int64_t, int64_t)>& on_pass) override {
    for (const int64_t passes : {0, 0, 1, 2, 3}) on_pass(passes, 3);
    return says;
  }
  Result<std::unique_ptr<measure::Source>> timer(const device::LaunchRequest&, CacheState,
                                                 std::function<void()>) override {
    ++timed;
    return fail(Stage::internal, "a process that profiles times nothing", "");
  }
  Result<device::PcSamples> sample(const device::LaunchRequest&, const std::function<void()>&) override {
    return samples;
  }
  Result<device::PcSamples> samples = device::PcSamples{};
  Result<HardwareCounters> says = HardwareCounters{.cupti = "13.0.85", .passes = 3, .warp_instructions = 1000};
  int timed = 0;
};

class ProfileTest : public PipelineTest {
 protected:
  ProfileTest() : all_(services_in(folder_.path(), Purpose::profile)) {
    const auto emulated = all_->find_device(request_.experiment.device);
    DeviceSpec spec = (*emulated)->spec();
    spec.id = "cuda:0";
    spec.emulated = false;
    gpu_ = std::make_shared<ProfiledDevice>(*emulated, spec);
    all_->devices.push_back(gpu_);
  }
  Result<void> run(const std::string& device) {
    request_.experiment.device = device;
    return run_experiment(*all_, request_, collected_);
  }

  std::unique_ptr<Services> all_;
  std::shared_ptr<ProfiledDevice> gpu_;
};

TEST_F(ProfileTest, TheGpusCountersComeWithTheEmulatorsAndNoTime) {
  ASSERT_TRUE(run("cuda:0"));
  EXPECT_EQ(collected_.observation.hardware, *gpu_->says);
  ASSERT_TRUE(collected_.observation.counters);
  EXPECT_GT(collected_.observation.counters->instructions.at("total"), 0);
  EXPECT_EQ(collected_.observation.counters->emulated_ctas, collected_.observation.counters->total_ctas);
  EXPECT_EQ(collected_.observation.verdict->state, VerdictState::correct);
  EXPECT_FALSE(collected_.observation.timing);
  EXPECT_FALSE(collected_.observation.watch);
  EXPECT_EQ(gpu_->timed, 0);
  EXPECT_EQ(collected_.launches, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}))
      << "each call is progress: the next step has its own deadline";
}

std::vector<SampledLine> sampled_lines_of(const Observation& seen) {
  std::vector<SampledLine> lines;
  for (const Finding& finding : seen.findings)
    if (auto line = sampled_line_of(finding)) lines.push_back(*line);
  return lines;
}

// The GPU knows instructions; the same machine code in the emulator knows their lines and what the model says of them.
TEST_F(ProfileTest, SampledInstructionsGetTheirLines) {
  device::PcSamples samples{.period = 1024, .launches = 3, .samples = 120};
  const SampledPlace place{30, 10, {{"barrier", 20}, {"selected", 10}}};
  for (const int64_t at : {4, 5, 6, 1 << 15}) samples.instructions.push_back({place, 0, at});
  gpu_->samples = samples;
  ASSERT_TRUE(run("cuda:0"));
  const std::vector<SampledLine> lines = sampled_lines_of(collected_.observation);
  ASSERT_FALSE(lines.empty());
  int64_t sum = 0;
  double share = 0;
  for (const SampledLine& line : lines) {
    sum += line.samples;
    share += line.share;
    EXPECT_GT(line.line, 0);
    EXPECT_EQ(line.stalls.front().reason, "barrier");
    EXPECT_EQ(line.unissued, line.samples / 3);
    ASSERT_TRUE(line.modelled);
    EXPECT_LE(*line.modelled, 1);
  }
  EXPECT_EQ(sum, 90) << "an instruction that the code does not have has no line";
  EXPECT_NEAR(share, 0.75, 1e-9);
  const auto taken = std::ranges::find(collected_.observation.findings, Rule(RuleId::samples_taken), &Finding::rule);
  ASSERT_NE(taken, collected_.observation.findings.end());
  EXPECT_EQ(taken->sentence, "120 samples in 3 launches, every 1,024 clocks of an SM; 0 of other code, 0 dropped.");
}

// An H200 samples most of the warps that wait at a barrier at an instruction behind it.
TEST_F(ProfileTest, WhatWaitsAtABarrierCountsAtItsLine) {
  std::vector<std::string> text{""};
  std::istringstream source(request_.kernel.source);
  for (std::string line; std::getline(source, line);) text.push_back(line);
  const auto at_barriers = [&](const char* reason) {
    device::PcSamples samples{.period = 1024, .launches = 1, .samples = 6000};
    for (int64_t at = 0; at < 600; ++at) samples.instructions.push_back({{10, 10, {{reason, 10}}}, 0, at});
    gpu_->samples = samples;
    collected_ = {};
    EXPECT_TRUE(run("cuda:0"));
    int64_t there = 0;
    for (const SampledLine& line : sampled_lines_of(collected_.observation))
      if (text.at(static_cast<size_t>(line.line)).find("__syncthreads") != std::string::npos) there += line.samples;
    return there;
  };
  const int64_t waiting = at_barriers("barrier"), others = at_barriers("wait");
  EXPECT_GT(others, 0);
  EXPECT_GT(waiting, others);
}

TEST(BarrierBefore, IsTheLastOneAndNotFarOrBehindAJump) {
  std::vector<model::ScheduledInstruction> code(20);
  for (auto& one : code) one.unit = model::Unit::fp32;
  code[2].unit = code[4].unit = model::Unit::barrier;
  EXPECT_EQ(barrier_before(code, 4), 4u);
  EXPECT_EQ(barrier_before(code, 6), 4u);
  EXPECT_EQ(barrier_before(code, 3), 2u);
  EXPECT_EQ(barrier_before(code, 1), std::nullopt);
  EXPECT_EQ(barrier_before(code, 12), 4u);
  EXPECT_EQ(barrier_before(code, 13), std::nullopt);
  code[6].branch = true;
  EXPECT_EQ(barrier_before(code, 6), 4u) << "the jump itself may be the one that waits";
  EXPECT_EQ(barrier_before(code, 7), std::nullopt);
}

TEST_F(ProfileTest, WithoutSamplesTheReasonIsSaidAndTheCountersStand) {
  gpu_->samples = fail(Stage::device, "no permission.", "Set it.");
  ASSERT_TRUE(run("cuda:0"));
  EXPECT_EQ(collected_.observation.hardware, *gpu_->says);
  EXPECT_TRUE(sampled_lines_of(collected_.observation).empty());
  const auto refused =
      std::ranges::find(collected_.observation.findings, Rule(RuleId::samples_refused), &Finding::rule);
  ASSERT_NE(refused, collected_.observation.findings.end());
  EXPECT_EQ(refused->sentence, "no permission. Set it.");
}

TEST_F(ProfileTest, WithoutThemTheReasonIsSaidAndEverythingElseGoesOn) {
  gpu_->says = fail(Stage::device, "no permission", "set it");
  ASSERT_TRUE(run("cuda:0"));
  EXPECT_EQ(collected_.observation.hardware->failure, (Failure{Stage::device, "no permission", "set it"}));
  EXPECT_TRUE(collected_.observation.counters);
  EXPECT_EQ(collected_.observation.verdict->state, VerdictState::correct);
}

TEST_F(ProfileTest, AKernelsFaultUnderTheProfilerIsTheRunsFailure) {
  gpu_->says = fail(Stage::launch, "an illegal address", "");
  const auto done = run("cuda:0");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::launch);
}

TEST_F(ProfileTest, AnEmulatedDeviceRunsAsEver) {
  ASSERT_TRUE(run(request_.experiment.device));
  EXPECT_FALSE(collected_.observation.hardware);
  EXPECT_TRUE(collected_.observation.timing);
}

// Every launch takes 20 us.
class EvenClock final : public measure::Source {
 public:
  explicit EvenClock(std::function<void()> on_launch) : on_launch_(std::move(on_launch)) {}
  Result<void> begin_round() override { return {}; }
  Result<std::vector<double>> take() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    on_launch_();
    return std::vector<double>{20};
  }
  measure::Conditions conditions() override { return {}; }

 private:
  std::function<void()> on_launch_;
};

class ClockedDevice final : public SilentDevice {
 public:
  using SilentDevice::SilentDevice;
  Result<std::unique_ptr<measure::Source>> timer(const device::LaunchRequest&, CacheState,
                                                 std::function<void()> on_launch) override {
    return std::make_unique<EvenClock>(std::move(on_launch));
  }
};

// The supervisor gives each launch its deadline, not all of them together.
TEST_F(PipelineTest, EachTimedLaunchIsProgress) {
  const auto all = services();
  const auto emulated = all->find_device(request_.experiment.device);
  ASSERT_TRUE(emulated);
  DeviceSpec spec = (*emulated)->spec();
  spec.id = request_.experiment.device = "cuda:0";
  spec.emulated = false;
  all->devices.push_back(std::make_shared<ClockedDevice>(*emulated, spec));
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(collected_.observation.timing->kind, FigureKind::measured);
  EXPECT_EQ(collected_.observation.timing->p50, 20);
  ASSERT_GT(collected_.launches.size(), 1u);
  for (size_t i = 0; i < collected_.launches.size(); ++i) ASSERT_EQ(collected_.launches[i], int64_t(i));
}

// out[i] = 3 a[i], from a kernel with buffers of its own.
constexpr const char* kScaleSource =
    "extern \"C\" __global__ void scale(const float* a, float* out, int N) {\n"
    "  int i = blockIdx.x * 64 + threadIdx.x;\n"
    "  if (i < N) out[i] = FACTOR * a[i];\n"
    "}\n";
std::string scale_manifest() {
  const auto buffer = [](const char* name, const char* role) {
    return Json{{"name", name}, {"role", role}, {"dtype", "f32"}, {"shape", {"N"}}};
  };
  Json json{{"id", "scale"},      {"title", "Scale"},    {"source", "scale.cu"},  {"entry", "scale"},
            {"story", "A test."}, {"problem", "custom"}, {"sizes", {{"N", 200}}}, {"args", {"a", "out", "N"}}};
  json["knobs"] = Json::array({{{"name", "FACTOR"}, {"values", {3, 4}}, {"default", 3}, {"doc", "The factor."}}});
  json["launch"] = {{"grid", {"ceil_div(N, 64)", 1, 1}}, {"block", {64, 1, 1}}};
  json["buffers"] = Json::array({buffer("a", "in"), buffer("out", "out")});
  json["reference"] = {{"kind", "scale"}, {"inputs", {"a"}}, {"output", "out"}, {"value", 3}};
  return json.dump();
}

TEST_F(PipelineTest, AKernelOfItsOwnBuffersIsRunJudgedAndWatched) {
  const auto kernel = catalog::parse_kernel({"scale.json", scale_manifest(), "scale.cu", kScaleSource});
  ASSERT_TRUE(kernel) << kernel.error().message;
  request_.kernel = *kernel;
  request_.experiment = testing_support::experiment_of(request_.kernel);
  request_.experiment.problem = kernel->default_problem();
  request_.first_view = ViewRequest{.experiment_hash = "x", .map = MapKind::output};
  request_.stages.watch = true;
  const auto all = services();
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  const Observation& o = collected_.observation;
  EXPECT_EQ(o.verdict->state, VerdictState::correct) << o.verdict->reason;
  EXPECT_EQ(o.counters->total_ctas, 4);
  EXPECT_GT(o.timing->p50, 0);
  EXPECT_FALSE(o.tflops) << "no convention says how many operations it has";
  EXPECT_TRUE(o.watch->findings.empty());
  EXPECT_TRUE(collected_.tiles.empty()) << "only attention has maps";
  request_.experiment.config.knobs["FACTOR"] = 4;
  Collected wrong;
  ASSERT_TRUE(run_experiment(*all, request_, wrong));
  EXPECT_EQ(wrong.observation.verdict->state, VerdictState::wrong);
}

// A device with a library routine that does the same as another kernel.
class LibraryDevice final : public SilentDevice {
 public:
  LibraryDevice(std::shared_ptr<device::Device> runs, DeviceSpec spec, compile::Variant does)
      : SilentDevice(std::move(runs), std::move(spec)), does_(std::move(does)) {}
  class Routine final : public device::Loaded {
   public:
    explicit Routine(std::shared_ptr<const device::Loaded> done) : does(std::move(done)) {}
    std::string library_version() const override { return "13.1.0"; }
    std::shared_ptr<const device::Loaded> does;
  };
  Result<std::shared_ptr<const device::Loaded>> load_routine(const Library& library, const std::string& entry,
                                                             const Problem&) override {
    asked = library.name() + " " + entry;
    auto loaded = load(does_);
    if (!loaded) return fail(loaded.error());
    return std::make_shared<const Routine>(*loaded);
  }
  Result<device::LaunchOutcome> run(const device::LaunchRequest& request, const device::LaunchEvents& events) override {
    shape = request.shape;
    device::LaunchRequest own = request;
    own.loaded = dynamic_cast<const Routine&>(*request.loaded).does;
    own.shape = {{32, 1, 1}, {128, 1, 1}};
    own.dynamic_shared = 4 * request.problem.seq_k;
    return SilentDevice::run(own, events);
  }
  std::string asked;
  attnscope::model::LaunchShape shape;

 private:
  compile::Variant does_;
};

TEST_F(PipelineTest, ALibrarysRoutineIsRunWithoutBeingCompiled) {
  using protocol::Step;
  const auto all = services();
  const auto minimal = all->compiler->compile(
      variant_request(request_.kernel, request_.experiment.problem, request_.experiment.config, 89));
  ASSERT_TRUE(minimal) << minimal.error().message;
  const auto emulated = all->find_device("emulated:l4");
  DeviceSpec spec = (*emulated)->spec();
  spec.id = request_.experiment.device = "cuda:0";
  spec.emulated = false;
  spec.runs = {LibraryId::source, LibraryId::cublas};
  const auto device = std::make_shared<LibraryDevice>(*emulated, spec, **minimal);
  all->devices.push_back(device);
  request_.kernel.library = LibraryId::cublas;
  request_.kernel.entry = "attention";
  request_.stages.watch = true;  // there is nothing to watch
  const auto done = run_experiment(*all, request_, collected_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(collected_.steps, (std::vector{Step::emulating, Step::checking, Step::measuring}));
  EXPECT_EQ(device->asked, "cublas attention");
  EXPECT_EQ(device->shape.ctas(), 1);
  const Observation& o = collected_.observation;
  EXPECT_EQ(o.versions.cublas, "13.1.0");
  EXPECT_EQ(o.versions.gpu, spec.name);
  EXPECT_FALSE(o.variant);
  EXPECT_FALSE(o.occupancy);
  EXPECT_FALSE(o.watch);
  EXPECT_EQ(o.verdict->state, VerdictState::correct) << o.verdict->reason;
}

TEST(CtasToWatch, AreTheEdgesAndSomeBetween) {
  EXPECT_THAT(ctas_to_watch({.grid = {3, 1, 1}}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(ctas_to_watch({.grid = {64, 2, 1}}), testing::ElementsAre(0, 1, 26, 51, 76, 101, 126, 127));
  EXPECT_EQ(ctas_to_watch({.grid = {64, 2, 1}, .cooperative = true}).size(), 128u);
  for (int64_t total = 1; total < 40; ++total) {
    const auto ctas = ctas_to_watch({.grid = {total, 1, 1}});
    EXPECT_TRUE(std::is_sorted(ctas.begin(), ctas.end()));
    EXPECT_EQ(ctas.size(), static_cast<size_t>(std::min(total, kWatchedCtas))) << total;
    EXPECT_EQ(ctas.back(), total - 1);
  }
}

}  // namespace
}  // namespace attnscope::worker
