#pragma once
#include <vector>

#include "device/pc_samples.h"
#include "worker/figures.h"

namespace attnscope::worker {

// What came of sampling as findings: how it went, or why there are no samples. Then, if the same machine code ran in
// the emulator (`made`, by launch; may be empty), the lines of the source with most samples, each with the share of the
// modelled time in which warps stand at it. A wait counts where the warp waits, as the GPU samples it, and not at what
// it waits for.
std::vector<Finding> sample_findings(const Result<device::PcSamples>& samples, const PlannedRun& run,
                                     const std::vector<SimulatedLaunch>& made);

}  // namespace attnscope::worker
