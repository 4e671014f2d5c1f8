#pragma once
#include <cstdint>
#include <string>

#include "core/result.h"

namespace attnscope::catalog {

// The source with what records the clocks of every warp of the kernel `entry`, for a GPU's timeline: a parameter more,
// the last, takes the address of measure::WarpClocks, warp after warp and CTA after CTA. An object at the begin of the
// body writes the SM and its clock, and its destructor the clock of the warp's last lane, wherever the body returns. No
// register is held in between. CTAs from `most_ctas` on write nothing. Failure (Stage::input): the source does not
// define the kernel.
Result<std::string> clock_twin(const std::string& source, const std::string& entry, int64_t most_ctas);

}  // namespace attnscope::catalog
