#pragma once
#include <optional>
#include <span>
#include <vector>

#include "device/pc_samples.h"
#include "worker/figures.h"

namespace attnscope::worker {

// What came of sampling as findings: how it went, or why there are no samples. Then, if the same machine code ran in
// the emulator (`made`, by launch; may be empty), the lines of the source with most samples, each with the share of the
// modelled time in which warps stand at it. A wait counts where the warp waits, as the GPU samples it, and not at what
// it waits for. Only what waits at a barrier counts there.
std::vector<Finding> sample_findings(const Result<device::PcSamples>& samples, const PlannedRun& run,
                                     const std::vector<SimulatedLaunch>& made);

// The barrier at which the warps wait that were sampled at instruction `at`: that instruction or a barrier shortly
// before it, because a warp runs on behind a barrier (BAR.SYNC.DEFER_BLOCKING) until an instruction may not issue.
// Empty: none.
std::optional<size_t> barrier_before(std::span<const model::ScheduledInstruction> code, size_t at);

}  // namespace attnscope::worker
