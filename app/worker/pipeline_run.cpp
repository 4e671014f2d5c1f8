#include "worker/pipeline_stages.h"

#include "check/verdict.h"
#include "measure/sampling.h"
#include "model/roofline.h"
#include "worker/fragment_cycles.h"

// Runs on the experiment's device and gets the time, modelled or measured.
namespace attnscope::worker {

Result<std::vector<Pipeline::Ready>> Pipeline::load_on(const std::shared_ptr<device::Device>& device) const {
  std::vector<Ready> all;
  for (const PlannedLaunch& one : launches_) {
    const auto load = [device, variant = one.variant, library = one.kernel.library, entry = one.kernel.entry,
                       problem = experiment().problem] {
      return variant ? device->load(*variant) : device->load_routine(library, entry, problem);
    };
    auto loaded = services_.pool.run<Ready>(load, *request_.cancel);
    if (!loaded) return fail(loaded.error());
    all.push_back(std::move(*loaded));
  }
  return all;
}

Result<void> Pipeline::load() {
  auto loaded = load_on(device_);
  if (!loaded) return fail(loaded.error());
  loaded_ = std::move(*loaded);
  if (request_.kernel.library == LibraryId::cublas) {
    versions_.cublas = loaded_.front()->library_version();
    sink_.part({versions_});
  }
  return {};
}

// `loaded` must be in the order of launches_.
Result<device::LaunchRequest> Pipeline::launch_request(const std::vector<Ready>& loaded) {
  const PlannedLaunch& last = launches_.back();
  device::LaunchRequest launch;
  if (workload_) {
    if (!operands_) {
      auto made = check::make_operands(*workload_, experiment().problem);
      if (!made) return fail(made.error());
      operands_ = std::move(*made);
    }
    launch.operands = operands_;
    launch.arguments = last.arguments;
  } else {
    auto inputs = wait(truth_->inputs);
    if (!inputs) return fail(inputs.error());
    launch.inputs = std::move(*inputs);
  }
  launch.name = who(request_);
  launch.loaded = loaded.back();
  launch.problem = experiment().problem;
  launch.args = request_.kernel.args;
  launch.shape = last.launch.shape;
  launch.dynamic_shared = last.launch.dynamic_shared;
  launch.steps = device_steps(request_.kernel, launches_, loaded);
  launch.sampled_share = experiment().measure.sampled_share;
  launch.max_time_ms = experiment().measure.max_time_ms;
  return launch;
}

Result<void> Pipeline::launch() {
  auto launch = launch_request(loaded_);
  if (!launch) return fail(launch.error());
  device::LaunchEvents events;
  events.cancel = request_.cancel;
  events.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::emulating, done, total); };
  events.on_counters = [this](const Counters& counters) { stream_counters(counters); };
  events.on_output = [this](const std::function<std::vector<std::byte>()>& copy) { stream_tile(copy); };
  events.on_printed = [this](const Printed& printed) { sink_.part({printed}); };
  int64_t ctas = 0;
  for (const PlannedLaunch& one : launches_) ctas += one.launch.shape.ctas();
  const auto begin = [this, ctas] { sink_.progress(Step::emulating, 0, ctas); };
  // The deadline of an emulated run covers its CTAs, not the time to make its buffers.
  if (device_->spec().emulated)
    events.on_start = begin;
  else
    begin();
  auto begun = services_.begun.take(experiment(), launches_.back().info.code_hash, events);
  if (!begun) return fail(begun.error());
  if (*begun) {
    outcome_ = std::move(**begun);
  } else {
    auto outcome = device_->run(*launch, events);
    if (!outcome) return fail(outcome.error());
    outcome_ = std::move(*outcome);
  }
  if (outcome_.counters && !is_program()) sink_.part({*outcome_.counters});
  return {};
}

// Models the time of an emulated run from its counts.
Result<void> Pipeline::model() {
  if (!outcome_.counters) return {};
  simulated_ = simulate(planned(), outcome_);
  if (is_program()) add_figures(planned(), simulated_, figures_);
  const Timing timing =
      is_program() ? sum_of_timings(figures_).value_or(Timing{}) : with_terms(planned(), simulated_.front());
  sink_.part({timing, tflops(timing.p50)});
  if (is_program()) {
    sink_.part({sum_of_counters(figures_)});
    send_launches();
  }
  services_.code.keep(hash_of(experiment()), code_runs(planned(), simulated_),
                      modelled_launches(planned(), simulated_));
  return {};
}

// A GPU's run is explained along with its watch, which emulates the same machine code.
Result<void> Pipeline::explain() {
  if (!simulated_.empty()) sink_.part({findings_of(planned(), simulated_, seen_)});
  return {};
}

// Empty if no convention gives the number of operations.
std::optional<double> Pipeline::tflops(double us) const {
  if (experiment().problem.flops() <= 0) return std::nullopt;
  return attnscope::model::tflops(experiment().problem, us);
}

// Gets the clocks of a microbenchmark's fragment. The emulator's clock64 counts instructions, so on an emulated device
// the model gives them.
Result<void> Pipeline::clock() {
  if (!request_.kernel.fragment) return {};
  const int64_t ctas = launches_.front().launch.shape.ctas();
  if (device_->spec().emulated) {
    if (seen_.timing) sink_.part({modelled_cycles(request_.kernel, *seen_.timing, ctas, device_->spec())});
    return {};
  }
  auto cycles = measured_cycles(request_.kernel, *workload_, outcome_.outputs, ctas);
  if (!cycles) return fail(cycles.error());
  sink_.part({std::optional(*cycles)});
  return {};
}

// Does nothing on an emulated device, whose time the model has given.
Result<void> Pipeline::measure() {
  if (device_->spec().emulated) return {};
  auto launch = launch_request(loaded_);
  if (!launch) return fail(launch.error());
  int64_t launches = 0;
  sink_.progress(Step::measuring, 0, 0);
  auto timer =
      device_->timer(*launch, experiment().measure.cache, [&] { sink_.progress(Step::measuring, ++launches, 0); });
  if (!timer) return fail(timer.error());
  if (!*timer) return {};
  const attnscope::measure::Policy policy{experiment().measure.cache,
                                          static_cast<double>(experiment().measure.max_time_ms), request_.hopeless_us};
  attnscope::measure::Events events;
  events.cancel = request_.cancel;
  auto timing = attnscope::measure::sample(**timer, policy, events);
  if (!timing) return fail(timing.error());
  sink_.part({*timing, tflops(timing->p50)});
  return {};
}

}  // namespace attnscope::worker
