#include "worker/pipeline_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/hash.h"
#include "worker/barrier_run.h"
#include "worker/sampled_lines.h"
#include "worker/watch_run.h"

// Runs the same machine code on an emulated device: counters beside a GPU's, watches and trials.
namespace attnscope::worker {

// Instead of measuring: reads the GPU's own counters for the run, and the emulator's for the same machine code. If the
// GPU gives no counters, the observation says why and the emulator still counts.
Result<void> Pipeline::profile() {
  if (device_->spec().emulated) return {};
  auto launch = launch_request(loaded_);
  if (!launch) return fail(launch.error());
  int64_t steps = 0;
  sink_.progress(Step::measuring, 0, 0);
  const auto step = [&] { sink_.progress(Step::measuring, ++steps, 0); };
  // First the samples: reading counters initializes CUPTI's profiler, which sampling does not need.
  sampled_ = device_->sample(*launch, step);
  if (!*sampled_ && (device_->lost() || sampled_->error().stage == Stage::launch)) return fail(sampled_->error());
  auto hardware = device_->profile(*launch, [&](int64_t, int64_t) { step(); });
  if (!hardware) {
    if (device_->lost() || hardware.error().stage == Stage::launch) return fail(hardware.error());
    HardwareCounters none;
    none.failure = hardware.error();
    hardware = std::move(none);
  }
  sink_.part({*hardware, sample_findings(*sampled_, planned(), {})});
  const auto twin = request_.kernel.library.is_source() ? services_.emulated_twin(device_->spec().arch) : nullptr;
  if (twin == nullptr) return {};
  launch = launch_on(twin);
  if (!launch) return fail(launch.error());
  return count(*twin, *launch);
}

// For an emulated device, which may not be the experiment's own; needs only the inputs.
Result<device::LaunchRequest> Pipeline::launch_on(const std::shared_ptr<device::Device>& twin) {
  auto loaded = load_on(twin);
  if (!loaded) return fail(loaded.error());
  if (truth_) truth_ = services_.truth.want(experiment().problem, accumulate_, TruthMaker::Wanted::inputs);
  return launch_request(*loaded);
}

// A GPU does not report what its kernel did, but the same machine code does the same in the emulator.
Result<void> Pipeline::count(device::Device& twin, const device::LaunchRequest& launch) {
  device::LaunchEvents events;
  events.cancel = request_.cancel;
  events.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::watching, done, total); };
  const auto counted = twin.run(launch, events);
  if (!counted) return fail(counted.error());
  const std::vector<SimulatedLaunch> made = simulate(planned(), *counted);
  if (is_program()) add_figures(planned(), made, figures_);
  const Bound bound =
      is_program() ? sum_of_timings(figures_).value_or(Timing{}).bound : made.front().simulated.timing.bound;
  std::vector<Finding> findings = findings_of(planned(), made, seen_);
  if (sampled_) std::ranges::move(sample_findings(*sampled_, planned(), made), std::back_inserter(findings));
  sink_.part({is_program() ? sum_of_counters(figures_) : counted->counters, bound, std::move(findings)});
  if (is_program()) send_launches();
  services_.code.keep(hash_of(experiment()), code_runs(planned(), made), modelled_launches(planned(), made));
  return {};
}

// Uses the device itself if it is emulated, otherwise an emulated one with its architecture, which runs the same
// machine code.
Result<Pipeline::EmulatedLaunch> Pipeline::emulated_launch() {
  const DeviceSpec& spec = device_->spec();
  const std::shared_ptr<device::Device> twin = spec.emulated ? device_ : services_.emulated_twin(spec.arch);
  if (twin == nullptr)
    return fail(Stage::device, fmt::format("no emulated device of sm_{} is known to watch on", spec.arch),
                "A watch needs the emulator, which executes the kernel.");
  auto launch = launch_on(twin);
  if (!launch) return fail(launch.error());
  return EmulatedLaunch{twin, std::move(*launch)};
}

Result<void> Pipeline::watch() {
  auto there = emulated_launch();
  if (!there) return fail(there.error());
  if (!device_->spec().emulated)
    if (auto counted = count(*there->device, there->launch); !counted) return counted;
  auto report = watch_on(*there);
  if (!report) return fail(report.error());
  if (request_.stages.needless && report->findings.empty()) {
    auto needless = barriers_on(std::move(*there));
    if (!needless) return fail(needless.error());
    report->needless = std::move(*needless);
  }
  sink_.part({*report});
  return {};
}

// The counts and stalls of the same machine code. The ordinary run leaves them, unless another process made it.
Result<std::shared_ptr<const KeptCode::Runs>> Pipeline::counted_runs(const EmulatedLaunch& there) {
  const std::string hash = hash_of(experiment());
  if (auto kept = services_.code.find(hash)) return kept;
  device::LaunchEvents events;
  events.cancel = request_.cancel;
  events.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::watching, done, total); };
  const auto counted = there.device->run(there.launch, events);
  if (!counted) return fail(counted.error());
  const std::vector<SimulatedLaunch> made = simulate(planned(), *counted);
  services_.code.keep(hash, code_runs(planned(), made), modelled_launches(planned(), made));
  return services_.code.find(hash);
}

Result<std::vector<Finding>> Pipeline::barriers_on(EmulatedLaunch there) {
  const auto counted = counted_runs(there);
  if (!counted) return fail(counted.error());
  const Kernel& kernel = launches_.back().kernel;
  const SourceLines lines(kernel.source_name, kernel.source);
  BarrierRun run{*there.device, std::move(there.launch), **counted, lines, request_.cancel, {}, {}};
  run.other_inputs = [this](device::LaunchRequest& launch) { return other_inputs(launch); };
  run.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::watching, done, total); };
  auto findings = needless_barriers(run);
  if (!findings || !is_program()) return findings;
  std::vector<std::vector<Finding>> of_launches(launches_.size());
  of_launches.back() = std::move(*findings);
  return merged(launches_, std::move(of_launches));
}

// Of the next seed, if they are small.
Result<bool> Pipeline::other_inputs(device::LaunchRequest& launch) const {
  constexpr int64_t kMostBytes = 32 << 20;
  Problem problem = experiment().problem;
  ++problem.seed;
  if (distinct_bytes(problem, workload_) > double(kMostBytes)) return false;
  if (workload_) {
    auto made = check::make_operands(*workload_, problem);
    if (!made) return fail(made.error());
    launch.operands = std::move(*made);
    return true;
  }
  auto made = check::make_inputs(problem);
  if (!made) return fail(made.error());
  launch.inputs = std::make_shared<const check::AttentionInputs>(std::move(*made));
  return true;
}

Result<WatchReport> Pipeline::watch_on(EmulatedLaunch there) {
  WatchRun run{*there.device, std::move(there.launch), request_.cancel, {}, {}, request_.stages.whole_grid};
  run.launch.trial.shared_names = shared_names(*launches_.back().variant, launches_.back().launch.dynamic_parts);
  run.reference = [this]() -> ReferenceResult {
    if (!truth_) return nullptr;  // a changed output is reported without a verdict
    truth_ = services_.truth.want(experiment().problem, accumulate_, TruthMaker::Wanted::all);
    return wait(truth_->reference);
  };
  run.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::watching, done, total); };
  return watch_kernel(run);
}

// Prepares the experiment's launch in the emulator.
Result<Pipeline::EmulatedLaunch> Pipeline::prepared() {
  for (const auto stage :
       {&Pipeline::open, static_cast<Result<void> (Pipeline::*)()>(&Pipeline::compile), &Pipeline::hold_limits})
    if (auto done = (this->*stage)(); !done) return fail(done.error());
  return emulated_launch();
}

Result<OverBuffers> Pipeline::run_over(std::shared_ptr<const check::Operands> operands) {
  operands_ = std::move(operands);
  auto there = prepared();
  if (!there) return fail(there.error());
  auto report = watch_on(std::move(*there));
  if (!report) return fail(report.error());
  OverBuffers made;
  const auto error = std::ranges::find(report->findings, Severity::error, &Finding::severity);
  if (error != report->findings.end()) {
    made.fault = error->sentence;
    return made;
  }
  if (auto loaded = load(); !loaded) return fail(loaded.error());
  if (auto ran = launch(); !ran) return fail(ran.error());
  made.outcome = std::move(outcome_);
  return made;
}

Result<device::LaunchOutcome> Pipeline::run_trial(const MakeTrial& make) {
  auto there = prepared();
  if (!there) return fail(there.error());
  auto trial = make(there->launch.shape, *launches_.back().variant, launches_.back().launch.dynamic_parts);
  if (!trial) return fail(trial.error());
  there->launch.trial = std::move(*trial);
  device::LaunchEvents events;
  events.cancel = request_.cancel;
  events.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::emulating, done, total); };
  return there->device->run(there->launch, events);
}

}  // namespace attnscope::worker
