#pragma once
#include <string>

#include "core/json_fwd.h"
#include "core/sm_timeline.h"

namespace attnscope::cli {

// The CTAs of the SM; its warps, one line each, with a letter for the state that takes most of a column; and each
// state's share of all warps' clocks. `what` names kernel and config, `device` the device.
std::string timeline_text(const SmTimeline& timeline, const std::string& what, const std::string& device);

// The same with every SM's CTAs and each column's shares as lists of numbers.
Json timeline_json(const SmTimeline& timeline);

}  // namespace attnscope::cli
