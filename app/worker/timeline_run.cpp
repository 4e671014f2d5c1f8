#include "worker/timeline_run.h"

#include <fmt/format.h>

#include "core/experiment.h"
#include "model/timeline.h"
#include "worker/list_code.h"
#include "worker/planned.h"

namespace attnscope::worker {

Result<SmTimeline> timeline_of(Services& services, const Experiment& experiment, const Kernel& kernel,
                               const TimelineAsk& ask) {
  auto device = services.find_device(experiment.device);
  if (!device) return fail(device.error());
  const DeviceSpec& spec = (*device)->spec();
  const std::string hash = hash_of(experiment);
  const auto modelled = services.code.find_modelled(hash);
  if (modelled == nullptr || modelled->empty())
    return fail(Stage::input, "this worker does not keep an emulated run of that experiment",
                spec.emulated ? "Run it again." : "Run it again with the watch, which emulates a GPU's kernel.");
  const std::vector<Kernel> launches = kernel.launches();
  const auto at = wanted_launch(kernel, launches, ask.step, services.code.find(hash).get());
  if (!at) return fail(at.error());
  if (*at >= modelled->size())
    return fail(Stage::input, "its run did not come to " + launch_words(launches[*at]), "Choose a launch before it.");
  if (ask.sm >= spec.sms)
    return fail(Stage::input, fmt::format("{} has no SM {}", spec.id, ask.sm),
                fmt::format("Its SMs are 0 to {}.", spec.sms - 1));
  const ModelledLaunch& one = (*modelled)[*at];
  if (one.schedule->traces.empty() || one.schedule->traces.front().warps.empty())
    return fail(Stage::input, "the warps' paths through this code are too long to be traced",
                "Choose a smaller problem.");
  SmTimeline made = model::timeline(
      {spec, one.problem, one.variant, one.shape, one.occupancy, one.counters, one.schedule.get()}, ask);
  if (launches[*at].step) made.launch = launch_words(launches[*at]);
  return made;
}

Result<SmTimeline> clocked_timeline(Services& services, const Request& request, const TimelineAsk& ask, Sink& sink) {
  auto device = services.find_device(request.experiment.device);
  if (!device) return fail(device.error());
  const std::string hash = hash_of(request.experiment);
  std::shared_ptr<const ClockedRun> run = services.clocked.find(hash);
  if (run == nullptr) {
    auto ran = run_clocked(services, request, sink);
    if (!ran) return fail(ran.error());
    run = std::make_shared<const ClockedRun>(std::move(*ran));
    services.clocked.keep(hash, run);
  }
  return measure::measured_timeline(run->spans, (*device)->spec().sms, run->twin, ask);
}

}  // namespace attnscope::worker
