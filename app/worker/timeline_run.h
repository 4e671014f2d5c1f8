#pragma once
#include "core/experiment.h"
#include "core/kernel.h"
#include "core/result.h"
#include "core/sm_timeline.h"
#include "worker/services.h"

namespace attnscope::worker {

// Simulates the experiment's last emulated run once more, with what the model was given then, and keeps what its SMs do
// over time. Failures (Stage::input): the run is not kept here any more, its paths were not traced, there is no such SM
// or launch.
Result<SmTimeline> timeline_of(Services& services, const Experiment& experiment, const Kernel& kernel,
                               const TimelineAsk& ask);

}  // namespace attnscope::worker
