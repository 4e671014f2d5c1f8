#pragma once
#include <string>

#include "core/observation.h"

namespace attnscope::charts {

// The largest terms of a modelled time: "global memory latency 41.2 %, issue 20.0 %, barriers 12.1 %, 6 more 26.7 %".
// If the model has none: "none: " and the reason. Empty for a time that has no terms.
std::string terms_text(const Timing& timing);
// "31.0 % at 02_tiled.cu:120, where 02_tiled.cu:131 waits": the instruction that carries most of the time. Empty if
// none carries a twentieth of it.
std::string carrier_text(const Timing& timing);
// Where in the source the time goes: "score 45.0 %, copy_tile 30.1 %, 3 more 24.9 %". Empty if unknown.
std::string phases_text(const Timing& timing);

}  // namespace attnscope::charts
