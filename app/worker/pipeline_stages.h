#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/verdict.h"
#include "device/pc_samples.h"
#include "worker/figures.h"
#include "worker/pipeline.h"
#include "worker/planned.h"
#include "worker/recorder.h"

namespace attnscope::worker {

// The kernel with its config, for messages.
std::string who(const Request& request);

// Runs one experiment; each stage stores what the next one needs.
class Pipeline {
 public:
  Pipeline(Services& services, const Request& request, Recorder& recorder)
      : services_(services), request_(request), sink_(recorder), seen_(recorder.seen) {}

  Result<void> run();
  Result<device::LaunchOutcome> run_trial(const MakeTrial& make);
  Result<OverBuffers> run_over(std::shared_ptr<const check::Operands> operands);
  Result<ClockedRun> run_clocked();

  // Starts its run in the emulator. Does nothing if the experiment is refused, because its own request reports that.
  void begin();

 private:
  using Ready = std::shared_ptr<const device::Loaded>;
  using Step = protocol::Step;

  Result<void> run_stages();

  // From the kernel's text to machine code within the device's limits.
  Result<void> open();
  Result<void> compile();
  Result<void> hold_limits();
  TruthMaker::Wanted wanted_truth() const;
  Failure with_way_out(Failure refused) const;
  Result<std::shared_ptr<const compile::Variant>> compile(const Kernel& launch) const;
  void compile_ahead();
  Result<void> settle(PlannedLaunch& one, std::shared_ptr<const compile::Variant> variant);
  void send_launches();
  void explain_refusal(const Failure& failure);

  // Loads the code, runs it and gets its time.
  Result<void> load();
  Result<void> launch();
  Result<void> begin_next();
  Result<void> model();
  Result<void> clock();
  Result<void> measure();
  Result<void> explain();
  Result<std::vector<Ready>> load_on(const std::shared_ptr<device::Device>& device) const;
  Result<device::LaunchRequest> launch_request(const std::vector<Ready>& loaded);
  std::optional<double> tflops(double us) const;

  // Judges the output.
  Result<void> check();
  Result<Verdict> judge_attention();
  ReferenceResult reference();
  std::shared_ptr<const check::Reference> reference_if_ready() const;
  void stream_counters(const Counters& counters);
  void stream_tile(const std::function<std::vector<std::byte>()>& copy);
  void send_tile(std::span<const std::byte> output, const check::Reference* reference);

  // The same machine code, ready for the emulator.
  struct EmulatedLaunch {
    std::shared_ptr<device::Device> device;
    device::LaunchRequest launch;
  };
  Result<void> profile();
  Result<void> watch();
  Result<EmulatedLaunch> emulated_launch();
  Result<EmulatedLaunch> prepared();
  Result<WatchReport> watch_on(EmulatedLaunch there);
  Result<std::shared_ptr<const KeptCode::Runs>> counted_runs(const EmulatedLaunch& there);
  Result<std::vector<Finding>> barriers_on(EmulatedLaunch there);
  Result<bool> other_inputs(device::LaunchRequest& launch) const;
  Result<void> make_twin();
  Result<device::LaunchRequest> launch_on(const std::shared_ptr<device::Device>& twin);
  Result<void> count(device::Device& twin, const device::LaunchRequest& launch);

  bool is_known() const {
    return seen_.variant && std::ranges::count(request_.known_codes, seen_.variant->code_hash) > 0;
  }
  bool is_program() const { return !request_.kernel.steps.empty(); }
  LaunchFigures& figures_of(const PlannedLaunch& one) { return figures_[one.kernel.step.value_or(0)]; }
  PlannedRun planned() const { return {request_.kernel, experiment().problem, device_->spec(), launches_, workload_}; }
  template <class T>
  Result<T> wait(const std::shared_future<Result<T>>& future) const;
  const Experiment& experiment() const { return request_.experiment; }

  Services& services_;
  const Request& request_;
  Sink& sink_;
  const Observation& seen_;  // the parts sent to the sink so far
  std::shared_ptr<device::Device> device_;
  std::vector<PlannedLaunch> launches_;  // one launch, or those of a program
  std::vector<LaunchFigures> figures_;   // for each step of a program
  check::Accumulate accumulate_ = check::Accumulate::f32;
  std::optional<Truth> truth_;        // attention only
  std::optional<Workload> workload_;  // every other kind
  std::shared_ptr<const check::Operands> operands_;
  std::shared_ptr<const check::Reference> reference_;  // the reference that judged attention; null: none
  Versions versions_;
  std::vector<Ready> loaded_;  // in the order of launches_
  device::LaunchOutcome outcome_;
  std::vector<SimulatedLaunch> simulated_;            // by launch, of a run on an emulated device; parts of outcome_
  std::optional<Result<device::PcSamples>> sampled_;  // of a run that is profiled
  double last_counters_ = 0, last_tile_ = 0;          // steady ms
};

template <class T>
Result<T> Pipeline::wait(const std::shared_future<Result<T>>& future) const {
  while (future.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
    if (*request_.cancel) return fail(Stage::cancelled, "cancelled", "");
  return future.get();
}

}  // namespace attnscope::worker
