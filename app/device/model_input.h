#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/problem.h"
#include "emulator/emulator.h"
#include "model/schedule.h"

namespace attnscope::device {

// The CTAs whose paths are traced for the latency model. With a mask, CTAs differ: nine along x, from the first to the
// last. Without a mask: one. If `sampled` is not empty, only CTAs from it, because a CTA that does not run leaves no
// trace.
std::vector<uint32_t> ctas_to_trace(const Problem& problem, const std::array<int64_t, 3>& grid,
                                    const std::vector<uint32_t>& sampled);

// RED, ATOM and the like: atomics of global memory.
bool is_global_atomic(std::string_view opcode);

// The latency model's input from an emulated run (RunOptions::trace_ctas = ctas_to_trace(…)). Without a trace (a CTA
// whose long path does not repeat) `traces` is empty and the model uses the counters.
model::KernelSchedule schedule_of(const emulator::Program& program, const emulator::RunResult& result,
                                  const Problem& problem, const std::array<int64_t, 3>& grid);

}  // namespace attnscope::device
