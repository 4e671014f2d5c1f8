#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/problem.h"
#include "emulator/emulator.h"
#include "model/schedule.h"

namespace attnscope::device {

// The CTAs whose paths the latency model needs traced: nine along x from the first to the last with a mask, because
// CTAs then differ; one without a mask. Only CTAs of `sampled` when it is not empty: a CTA that does not run leaves no
// trace.
std::vector<uint32_t> ctas_to_trace(const Problem& problem, const std::array<int64_t, 3>& grid,
                                    const std::vector<uint32_t>& sampled);

// What the latency model needs of an emulated run (RunOptions::trace_ctas = ctas_to_trace(…)). Without a trace (a CTA
// whose long path does not repeat) `traces` is empty and the model uses the counters.
model::KernelSchedule schedule_of(const emulator::Program& program, const emulator::RunResult& result,
                                  const Problem& problem, const std::array<int64_t, 3>& grid);

}  // namespace attnscope::device
