#pragma once
#include "core/experiment.h"
#include "core/kernel.h"
#include "core/result.h"
#include "core/sm_timeline.h"
#include "worker/services.h"

namespace attnscope::worker {

// Simulates the experiment's last emulated run again with the same model input and records its SMs over time. Failures
// (Stage::input): the run is no longer kept, its paths were not traced, or there is no such SM or launch.
Result<SmTimeline> timeline_of(Services& services, const Experiment& experiment, const Kernel& kernel,
                               const TimelineAsk& ask);

}  // namespace attnscope::worker
