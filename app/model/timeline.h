#pragma once
#include "core/sm_timeline.h"
#include "model/latency.h"

namespace attnscope::model {

// The run of `input` over time, as latency() simulates it: the CTAs of every SM, and what the warps of one do, in at
// most `columns` columns of the requested clocks. Nothing that repeats is skipped, so it costs more than latency();
// like that it simulates at most SmLoad::step_limit warp instructions, and says so if it stopped there. If CTAs are
// equal, two SMs are simulated, one with the most CTAs and one with fewer; if they differ, the requested SM, and the
// CTAs of the others end by their instructions. The input must have a schedule with traces, and ask.sm must be below
// the device's SMs.
SmTimeline timeline(const LatencyInput& input, const TimelineAsk& ask, size_t columns = SmTimeline::kColumns);

}  // namespace attnscope::model
