#pragma once
#include "core/experiment.h"
#include "core/kernel.h"
#include "core/result.h"
#include "core/sm_timeline.h"
#include "worker/pipeline.h"
#include "worker/services.h"

namespace attnscope::worker {

// Simulates the experiment's last emulated run again with the same model input and records its SMs over time. Failures
// (Stage::input): the run is no longer kept, its paths were not traced, or there is no such SM or launch.
Result<SmTimeline> timeline_of(Services& services, const Experiment& experiment, const Kernel& kernel,
                               const TimelineAsk& ask);

// The same from the device's own clocks: the experiment's instrumented twin is launched, unless the worker still keeps
// what its last launch said. Failures: those of run_clocked(); Stage::input: there is no such SM.
Result<SmTimeline> clocked_timeline(Services& services, const Request& request, const TimelineAsk& ask, Sink& sink);

}  // namespace attnscope::worker
