#include "worker/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "catalog/catalog.h"
#include "catalog/choices.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "check/error_map.h"
#include "check/known_reference.h"
#include "check/verdict.h"
#include "explain/explain.h"
#include "measure/sampling.h"
#include "model/limits.h"
#include "model/occupancy.h"
#include "model/roofline.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "worker/constant_data.h"
#include "worker/figures.h"
#include "worker/planned.h"
#include "worker/recorder.h"
#include "worker/variant_request.h"
#include "worker/watch_run.h"

namespace attnscope::worker {
namespace {

using protocol::Step;

constexpr double kPartInterval = 40;  // ms between streamed counters, and between streamed tiles

std::string who(const Request& request) {
  const std::string config = short_text(request.experiment.config, request.kernel);
  return request.kernel.id + (config.empty() ? "" : " " + config);
}

// One experiment; each stage leaves what the next one needs.
class Pipeline {
 public:
  Pipeline(Services& services, const Request& request, Recorder& recorder)
      : services_(services), request_(request), sink_(recorder), seen_(recorder.seen) {}

  Result<void> run() {
    auto done = run_stages();
    if (!done && done.error().stage == attnscope::Stage::limits) explain_refusal(done.error());
    return done;
  }

  Result<device::LaunchOutcome> run_trial(const MakeTrial& make);

  // Its run in the emulator begins, if nothing stands against it; what does is said when it is asked for.
  void begin();

 private:
  Result<void> run_stages() {
    using Stage = Result<void> (Pipeline::*)();
    std::vector<Stage> stages{&Pipeline::open};
    // A library's routine is neither compiled nor watched: its code is the library's.
    const bool source = request_.kernel.library.is_source();
    if (source) stages.insert(stages.end(), {&Pipeline::compile, &Pipeline::hold_limits});
    if (request_.stages.run)
      stages.insert(
          stages.end(),
          {&Pipeline::load, &Pipeline::launch, &Pipeline::begin_next, &Pipeline::model, &Pipeline::check,
           services_.purpose == Purpose::profile ? &Pipeline::profile : &Pipeline::measure, &Pipeline::explain});
    if (request_.stages.watch && source) stages.push_back(&Pipeline::watch);
    for (const Stage stage : stages) {
      if (*request_.cancel) return fail(attnscope::Stage::cancelled, "cancelled", "");
      if (auto done = (this->*stage)(); !done) return done;
      if (stage == &Pipeline::hold_limits && is_known()) return {};
    }
    return {};
  }

  using Ready = std::shared_ptr<const device::Loaded>;

  Result<void> open();
  Result<void> compile();
  void compile_ahead();
  Result<void> hold_limits();
  Result<void> load();
  Result<void> launch();
  Result<void> begin_next();
  Result<void> model();
  Result<void> check();
  Result<void> measure();
  Result<void> profile();
  Result<void> explain();
  void explain_refusal(const Failure& failure);
  Result<void> watch();

  // Of the experiment, on the emulated device that executes its machine code.
  struct EmulatedLaunch {
    std::shared_ptr<device::Device> device;
    device::LaunchRequest launch;
  };
  Result<EmulatedLaunch> emulated_launch();
  TruthMaker::Wanted wanted_truth() const;
  Failure with_way_out(Failure refused) const;
  void stream_counters(const Counters& counters);
  void stream_tile(const std::function<std::vector<std::byte>()>& copy);
  void send_tile(std::span<const std::byte> output, const check::Reference* reference);
  std::shared_ptr<const check::Reference> reference_if_ready() const;
  ReferenceResult reference();
  Result<device::LaunchRequest> launch_request(const std::vector<Ready>& loaded);
  Result<device::LaunchRequest> launch_on(const std::shared_ptr<device::Device>& twin);
  Result<Verdict> judge_attention();
  Result<std::shared_ptr<const compile::Variant>> compile(const Kernel& launch) const;
  Result<void> settle(PlannedLaunch& one, std::shared_ptr<const compile::Variant> variant);
  Result<std::vector<Ready>> load_on(const std::shared_ptr<device::Device>& device) const;
  bool is_known() const {
    return seen_.variant && std::ranges::count(request_.known_codes, seen_.variant->code_hash) > 0;
  }
  bool is_program() const { return !request_.kernel.steps.empty(); }
  LaunchFigures& figures_of(const PlannedLaunch& one) { return figures_[one.kernel.step.value_or(0)]; }
  void send_launches();
  PlannedRun planned() const { return {request_.kernel, experiment().problem, device_->spec(), launches_, workload_}; }
  Result<void> count(device::Device& twin, const device::LaunchRequest& launch);
  std::optional<double> tflops(double us) const;
  template <class T>
  Result<T> wait(const std::shared_future<Result<T>>& future) const;

  const Experiment& experiment() const { return request_.experiment; }

  Services& services_;
  const Request& request_;
  Sink& sink_;
  const Observation& seen_;  // what went to the sink
  std::shared_ptr<device::Device> device_;
  std::vector<PlannedLaunch> launches_;  // one, or those of a program
  std::vector<LaunchFigures> figures_;   // of a program's steps
  check::Accumulate accumulate_ = check::Accumulate::f32;
  std::optional<Truth> truth_;        // of attention
  std::optional<Workload> workload_;  // of any other kind
  std::shared_ptr<const check::Operands> operands_;
  std::shared_ptr<const check::Reference> reference_;  // the one that judged attention; null: none
  Versions versions_;
  std::vector<Ready> loaded_;  // as launches_
  device::LaunchOutcome outcome_;
  std::vector<SimulatedLaunch> simulated_;    // by launch, of a run on an emulated device; parts of outcome_
  double last_counters_ = 0, last_tile_ = 0;  // steady ms
};

template <class T>
Result<T> Pipeline::wait(const std::shared_future<Result<T>>& future) const {
  while (future.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
    if (*request_.cancel) return fail(Stage::cancelled, "cancelled", "");
  return future.get();
}

// Validates an experiment that came over a pipe with the kernel that came with it.
Result<void> Pipeline::open() {
  auto device = services_.find_device(experiment().device);
  if (!device) return fail(device.error());
  device_ = *device;
  const Config& config = experiment().config;
  auto complete = catalog::complete_config(request_.kernel, config.knobs, config.options);
  if (!complete) return fail(complete.error());
  if (*complete != config)
    return fail(Stage::input, request_.kernel.id + ": the config does not set every knob", "Send a complete config.");
  if (auto allowed = catalog::check_restrictions(request_.kernel, experiment().problem, config, device_->spec().arch);
      !allowed)
    return allowed;
  if (auto runs = catalog::check_runs(request_.kernel, device_->spec()); !runs) return runs;
  for (Kernel& kernel : request_.kernel.launches()) {
    PlannedLaunch& one = launches_.emplace_back();
    one.kernel = std::move(kernel);
    one.name = who(request_) + (is_program() ? ", " + launch_words(one.kernel) : "");
    if (request_.kernel.library.is_source()) {
      auto launch = catalog::launch_of(one.kernel, experiment().problem, config);
      if (!launch) return fail(launch.error());
      one.launch = *launch;
    } else {
      // For progress and the empty kernel that is timed beside it. The library decides how its routine is launched.
      one.launch.shape = {{1, 1, 1}, {32, 1, 1}};
    }
  }
  figures_ = steps_of(request_.kernel);
  auto accumulate = catalog::accumulate_of(request_.kernel, config);
  if (!accumulate) return fail(accumulate.error());
  accumulate_ = *accumulate;
  versions_ = services_.versions();
  if (!device_->spec().emulated) versions_.gpu = device_->spec().name;
  sink_.part({device_->spec().id, versions_});
  if (!experiment().problem.is_attention()) {
    for (PlannedLaunch& one : launches_) {
      auto workload = catalog::workload_of(one.kernel, experiment().problem, config);
      if (!workload) return fail(workload.error());
      one.arguments = workload->arguments;
      workload_ = std::move(*workload);
    }
    return catalog::check_copies(request_.kernel, *workload_);
  }
  truth_ = services_.truth.want(experiment().problem, accumulate_, wanted_truth());
  return {};
}

// A watch needs the inputs, and a reference only if some run's output differs.
TruthMaker::Wanted Pipeline::wanted_truth() const {
  if (!request_.stages.run) return TruthMaker::Wanted::inputs;
  if (device_->spec().emulated) return TruthMaker::Wanted::all;
  return device_->makes_inputs() ? TruthMaker::Wanted::stored_reference : TruthMaker::Wanted::inputs;
}

// The manifest often knows a remedy that a refusal of the compiler or the device does not mention.
Failure Pipeline::with_way_out(Failure refused) const {
  if (refused.stage != Stage::limits) return refused;
  auto foretold = catalog::foretell_limits(request_.kernel, experiment().problem, experiment().config, device_->spec());
  if (!foretold && foretold.error().stage == Stage::limits) return foretold.error();
  return refused;
}

Result<void> Pipeline::compile() {
  sink_.progress(Step::compiling, 0, 0);
  compile_ahead();
  if (!services_.ahead.wait_for(experiment(), *request_.cancel)) return fail(Stage::cancelled, "cancelled", "");
  Variants variants;
  for (const PlannedLaunch& one : launches_) {
    auto variant = compile(one.kernel);
    if (!variant) return fail(with_way_out(variant.error()));
    variants.push_back(std::move(*variant));
  }
  auto filled = with_constant_data(std::move(variants), workload_, experiment().problem);
  if (!filled) return fail(filled.error());
  for (size_t i = 0; i < launches_.size(); ++i)
    if (auto done = settle(launches_[i], (*filled)[i]); !done) return done;
  if (is_program())
    send_launches();
  else
    sink_.part({launches_.front().info});
  return {};
}

Result<std::shared_ptr<const compile::Variant>> Pipeline::compile(const Kernel& launch) const {
  auto wanted = variant_request(launch, experiment().problem, experiment().config, device_->spec().arch);
  return services_.pool.run<std::shared_ptr<const compile::Variant>>(
      [compiler = services_.compiler, wanted = std::move(wanted)] { return compiler->compile(wanted); },
      *request_.cancel);
}

Result<void> Pipeline::settle(PlannedLaunch& one, std::shared_ptr<const compile::Variant> variant) {
  one.variant = std::move(variant);
  one.info = one.variant->info;
  auto launch = settled(one.launch, one.kernel, experiment().problem, experiment().config, *one.variant);
  if (!launch) return fail(launch.error());
  one.launch = *launch;
  one.info.dynamic_shared_bytes = one.launch.dynamic_shared;
  one.info.shared_buffers.insert(one.info.shared_buffers.end(), one.launch.dynamic_parts.begin(),
                                 one.launch.dynamic_parts.end());
  if (is_program()) figures_of(one).variant = one.info;
  return {};
}

// A program's figures as far as they are known, and what stands for it where an observation has one launch's.
void Pipeline::send_launches() {
  const Headliner one = headliner(figures_);
  sink_.part({figures_, one.variant, one.occupancy});
}

void Pipeline::compile_ahead() {
  for (const Experiment& next : request_.ahead)
    if (auto device = services_.find_device(next.device))
      services_.ahead.begin({services_.compiler, *device, request_.kernel, next});
}

Result<void> Pipeline::hold_limits() {
  sink_.progress(Step::limits, 0, 0);
  for (PlannedLaunch& one : launches_) {
    const model::LaunchShape& shape = one.launch.shape;
    if (auto fits = attnscope::model::check_limits(device_->spec(), one.info, shape, one.name); !fits)
      return fail(with_way_out(fits.error()));
    one.occupancy =
        attnscope::model::occupancy(device_->spec(), one.info, shape, std::max<int64_t>(1, one.variant->barriers));
    if (is_program()) figures_of(one).occupancy = one.occupancy;
  }
  if (is_program())
    send_launches();
  else
    sink_.part({launches_.front().occupancy});
  return {};
}

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

// `loaded` is in the order of launches_.
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
  // The deadline of an emulated run is of its CTAs, and not of making its buffers.
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

// Says nothing to anyone.
class Quiet final : public Sink {
 public:
  void part(std::vector<protocol::PartValue>, bool) override {}
  void tile(Tile) override {}
  void progress(Step, int64_t, int64_t) override {}
};

// While this run is modelled and judged, the emulator's threads execute the next one. A watch needs them itself.
Result<void> Pipeline::begin_next() {
  if (!device_->spec().emulated || !truth_ || request_.ahead.empty() || request_.stages.watch) return {};
  const Experiment& next = request_.ahead.front();
  if (next.device != experiment().device || !services_.ahead.is_done(next)) return {};
  Request request;
  request.experiment = next;
  request.kernel = request_.kernel;
  request.known_codes = request_.known_codes;
  if (seen_.variant) request.known_codes.push_back(seen_.variant->code_hash);
  request.cancel = request_.cancel;
  Quiet quiet;
  Recorder recorder(quiet, next);
  Pipeline(services_, request, recorder).begin();
  return {};
}

void Pipeline::begin() {
  for (const auto stage : {&Pipeline::open, static_cast<Result<void> (Pipeline::*)()>(&Pipeline::compile),
                           &Pipeline::hold_limits, &Pipeline::load})
    if (!(this->*stage)()) return;
  if (is_known() || !truth_ || is_program() || BegunRun::is_large(experiment().problem)) return;
  if (auto launch = launch_request(loaded_))
    services_.begun.begin(experiment(), launches_.back().info.code_hash, device_, std::move(*launch));
}

// The time of an emulated run is modelled from what it did.
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
  services_.code.keep(hash_of(experiment()), code_runs(planned(), simulated_));
  return {};
}

// A GPU's run is explained with its watch, for which the same machine code is emulated.
Result<void> Pipeline::explain() {
  if (!simulated_.empty()) sink_.part({findings_of(planned(), simulated_, seen_)});
  return {};
}

void Pipeline::explain_refusal(const Failure& failure) {
  if (!device_) return;
  const PlannedLaunch* refused = nullptr;  // the launch that does not fit
  for (const PlannedLaunch& one : launches_)
    if (refused == nullptr || !attnscope::model::check_limits(device_->spec(), one.info, one.launch.shape, one.name))
      refused = &one;
  if (refused == nullptr) return;
  explain::Facts facts{.kernel = is_program() ? request_.kernel : refused->kernel,
                       .spec = device_->spec(),
                       .shape = refused->launch.shape,
                       .seen = seen_};
  if (is_program() && refused->variant) facts.seen.variant = refused->info;
  facts.seen.failure = failure;
  sink_.part({explain::findings_of(facts)});
}

// Empty if no convention gives the problem's number of operations.
std::optional<double> Pipeline::tflops(double us) const {
  if (experiment().problem.flops() <= 0) return std::nullopt;
  return attnscope::model::tflops(experiment().problem, us);
}

void Pipeline::stream_counters(const Counters& counters) {
  const double now = platform::steady_ms();
  if (now - last_counters_ < kPartInterval) return;
  last_counters_ = now;
  sink_.part({counters}, false);
}

std::shared_ptr<const check::Reference> Pipeline::reference_if_ready() const {
  if (truth_->reference.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return nullptr;
  const ReferenceResult& made = truth_->reference.get();
  return made ? *made : nullptr;
}

void Pipeline::stream_tile(const std::function<std::vector<std::byte>()>& copy) {
  if (!request_.first_view || !truth_) return;
  const double now = platform::steady_ms();
  if (now - last_tile_ < kPartInterval) return;
  const auto reference = reference_if_ready();
  if (!reference && request_.first_view->map != MapKind::output) return;
  last_tile_ = now;
  send_tile(copy(), reference.get());
}

void Pipeline::send_tile(std::span<const std::byte> output, const check::Reference* reference) {
  // A view that the problem does not have is a failure only of the view: it gets no tile.
  if (auto tile = check::make_tile(*request_.first_view, experiment().problem, output, reference))
    sink_.tile(std::move(*tile));
}

// The wanted reference; a device that has a kernel for it makes it, else the CPU.
ReferenceResult Pipeline::reference() {
  auto found = wait(truth_->reference);
  if (!found || *found) return found;
  auto made = device_->reference(experiment().problem, accumulate_);
  if (device_->lost()) return fail(made ? Failure{Stage::device, device_->spec().id + " is lost", ""} : made.error());
  if (made && *made) {
    services_.truth.keep(*made);
    return made;
  }
  truth_ = services_.truth.want(experiment().problem, accumulate_, TruthMaker::Wanted::all);
  return wait(truth_->reference);
}

Result<void> Pipeline::check() {
  sink_.progress(Step::checking, 0, 0);
  auto verdict =
      workload_ ? check::judge(*workload_, *operands_, outcome_.outputs, outcome_.partial) : judge_attention();
  if (!verdict) return fail(verdict.error());
  sink_.part({*verdict});
  if (request_.first_view && truth_) send_tile(outcome_.output->data(), reference_.get());
  return {};
}

// Also keeps the run for maps.
Result<Verdict> Pipeline::judge_attention() {
  auto reference = this->reference();
  if (!reference && (reference.error().stage == Stage::cancelled || device_->lost())) return fail(reference.error());
  Verdict verdict = reference ? Verdict{} : check::unchecked(reference.error().message);
  if (reference) {
    auto compared = device_->compare(outcome_, *reference);
    if (!compared) return fail(compared.error());
    const Result<Verdict> judged =
        *compared ? check::conclude(**compared, **reference)
                  : check::judge(outcome_.output->data(), **reference, {.partial = outcome_.partial});
    if (!judged) return fail(judged.error());
    verdict = *judged;
  }
  reference_ = reference ? *reference : nullptr;
  if (request_.keeps_output)
    services_.kept.keep({hash_of(experiment()), experiment().problem, outcome_.output, reference_});
  return verdict;
}

// Only a real device has a clock; the time of an emulated one came from the model.
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

// In place of measuring: what the GPU's own counters say of the run, and what the emulator counts of the same machine
// code. A GPU that does not give its counters says why; the emulator still counts.
Result<void> Pipeline::profile() {
  if (device_->spec().emulated) return {};
  auto launch = launch_request(loaded_);
  if (!launch) return fail(launch.error());
  int64_t steps = 0;
  sink_.progress(Step::measuring, 0, 0);
  auto hardware = device_->profile(*launch, [&](int64_t, int64_t) { sink_.progress(Step::measuring, ++steps, 0); });
  if (!hardware) {
    if (device_->lost() || hardware.error().stage == Stage::launch) return fail(hardware.error());
    HardwareCounters none;
    none.failure = hardware.error();
    hardware = std::move(none);
  }
  sink_.part({*hardware});
  const auto twin = request_.kernel.library.is_source() ? services_.emulated_twin(device_->spec().arch) : nullptr;
  if (twin == nullptr) return {};
  launch = launch_on(twin);
  if (!launch) return fail(launch.error());
  return count(*twin, *launch);
}

// On an emulated device that is perhaps not the experiment's, for which only the inputs are needed.
Result<device::LaunchRequest> Pipeline::launch_on(const std::shared_ptr<device::Device>& twin) {
  auto loaded = load_on(twin);
  if (!loaded) return fail(loaded.error());
  if (truth_) truth_ = services_.truth.want(experiment().problem, accumulate_, TruthMaker::Wanted::inputs);
  return launch_request(*loaded);
}

// A GPU does not say what its kernel did, but the same machine code does the same in the emulator.
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
  sink_.part(
      {is_program() ? sum_of_counters(figures_) : counted->counters, bound, findings_of(planned(), made, seen_)});
  if (is_program()) send_launches();
  services_.code.keep(hash_of(experiment()), code_runs(planned(), made));
  return {};
}

// On the device itself if it is emulated, otherwise on an emulated one of its architecture: the machine code is the
// same.
Result<Pipeline::EmulatedLaunch> Pipeline::emulated_launch() {
  const DeviceSpec& spec = device_->spec();
  const std::shared_ptr<device::Device> twin = spec.emulated ? device_ : services_.emulated_twin(spec.arch);
  if (twin == nullptr)
    return fail(Stage::device, fmt::format("no emulated device of sm_{} is known to watch on", spec.arch),
                "A watch looks on while the emulator executes the kernel.");
  auto launch = launch_on(twin);
  if (!launch) return fail(launch.error());
  return EmulatedLaunch{twin, std::move(*launch)};
}

Result<void> Pipeline::watch() {
  auto there = emulated_launch();
  if (!there) return fail(there.error());
  if (!device_->spec().emulated)
    if (auto counted = count(*there->device, there->launch); !counted) return counted;
  WatchRun run{*there->device, std::move(there->launch), request_.cancel, {}, {}, request_.stages.whole_grid};
  run.launch.trial.shared_names = shared_names(*launches_.back().variant, launches_.back().launch.dynamic_parts);
  run.reference = [this]() -> ReferenceResult {
    if (!truth_) return nullptr;  // a changed output is reported without a verdict
    truth_ = services_.truth.want(experiment().problem, accumulate_, TruthMaker::Wanted::all);
    return wait(truth_->reference);
  };
  run.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::watching, done, total); };
  auto report = watch_kernel(run);
  if (!report) return fail(report.error());
  sink_.part({*report});
  return {};
}

Result<device::LaunchOutcome> Pipeline::run_trial(const MakeTrial& make) {
  for (const auto stage :
       {&Pipeline::open, static_cast<Result<void> (Pipeline::*)()>(&Pipeline::compile), &Pipeline::hold_limits})
    if (auto done = (this->*stage)(); !done) return fail(done.error());
  auto there = emulated_launch();
  if (!there) return fail(there.error());
  auto trial = make(there->launch.shape, *launches_.back().variant, launches_.back().launch.dynamic_parts);
  if (!trial) return fail(trial.error());
  there->launch.trial = std::move(*trial);
  device::LaunchEvents events;
  events.cancel = request_.cancel;
  events.on_progress = [this](int64_t done, int64_t total) { sink_.progress(Step::emulating, done, total); };
  return there->device->run(there->launch, events);
}

// Of a run of which only the outcome is wanted.
class ProgressOnly final : public Sink {
 public:
  explicit ProgressOnly(Sink& sink) : sink_(sink) {}
  void part(std::vector<protocol::PartValue>, bool) override {}
  void tile(Tile) override {}
  void progress(Step step, int64_t done, int64_t total) override { sink_.progress(step, done, total); }

 private:
  Sink& sink_;
};

}  // namespace

Result<device::LaunchOutcome> run_trial(Services& services, const Request& request, const MakeTrial& make, Sink& sink) {
  try {
    ProgressOnly quiet(sink);
    Recorder recorder(quiet, request.experiment);
    services.begun.drop();
    return Pipeline(services, request, recorder).run_trial(make);
  } catch (const std::bad_alloc&) {
    return fail(platform::out_of_memory(who(request)));
  }
}

Result<void> run_experiment(Services& services, const Request& request, Sink& sink) {
  try {
    Recorder recorder(sink, request.experiment);
    services.begun.keep_only(request.experiment);
    auto done = Pipeline(services, request, recorder).run();
    if (!done && done.error().stage == Stage::cancelled) services.begun.drop();
    return done;
  } catch (const std::bad_alloc&) {
    return fail(platform::out_of_memory(who(request)));
  }
}

}  // namespace attnscope::worker
