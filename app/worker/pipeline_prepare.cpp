#include "worker/pipeline_stages.h"

#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/choices.h"
#include "catalog/launch.h"
#include "catalog/reference_kernel.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "explain/explain.h"
#include "model/limits.h"
#include "model/occupancy.h"
#include "worker/constant_data.h"
#include "worker/variant_request.h"

// Takes a kernel's text to machine code within the device's limits.
namespace attnscope::worker {

// Validates an experiment that arrived over a pipe, and the kernel sent with it.
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
      // Used for progress and for the empty kernel that is timed beside it. The library chooses the launch of its
      // routine.
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
    if (request_.kernel.reference_kernel)
      if (auto fits = catalog::reference_workload(request_.kernel, *workload_, experiment().problem); !fits)
        return fail(fits.error());
    return catalog::check_copies(request_.kernel, *workload_);
  }
  truth_ = services_.truth.want(experiment().problem, accumulate_, wanted_truth());
  return {};
}

// A watch needs the inputs; it needs a reference only if the output of some run differs.
TruthMaker::Wanted Pipeline::wanted_truth() const {
  if (!request_.stages.run) return TruthMaker::Wanted::inputs;
  if (device_->spec().emulated) return TruthMaker::Wanted::all;
  return device_->makes_inputs() ? TruthMaker::Wanted::stored_reference : TruthMaker::Wanted::inputs;
}

// Adds the manifest's hint. The manifest often knows a remedy that the compiler's or device's refusal does not mention.
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
  auto filled = with_constant_data(std::move(variants), workload_, experiment().problem, operands_.get());
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
  return services_.compile(variant_request(launch, experiment().problem, experiment().config, device_->spec().arch),
                           request_.compile_ms, *request_.cancel);
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

// Sends a program's figures as far as they are known, with the longest launch in the fields that describe one launch.
void Pipeline::send_launches() {
  const Headliner one = headliner(figures_);
  sink_.part({figures_, one.variant, one.occupancy});
}

void Pipeline::compile_ahead() {
  for (const Experiment& next : request_.ahead)
    if (auto device = services_.find_device(next.device))
      services_.ahead.begin({services_.compiler, *device, request_.kernel, next, request_.compile_ms});
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

}  // namespace attnscope::worker
