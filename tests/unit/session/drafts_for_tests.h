#pragma once
#include <cstdint>
#include <string>

#include "core/experiment.h"

namespace attnscope::session {

// The tiled kernel with this many warps.
inline Draft draft(int64_t warps, const std::string& device = "emulated:l4") {
  Draft draft;
  draft.kernel = "tiled";
  draft.config.knobs = {{"NUM_WARPS", warps}};
  draft.device = device;
  return draft;
}

}  // namespace attnscope::session
