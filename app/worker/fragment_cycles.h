#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "check/guarded_buffer.h"
#include "core/device_spec.h"
#include "core/kernel.h"
#include "core/observation.h"
#include "core/workload.h"

namespace attnscope::worker {

// What a microbenchmark's CTAs wrote of their clocks on a GPU. `outputs` are the operands of role out and inout, in
// order. Failure (Stage::check): there are not as many as CTAs, or one is no number above 0.
Result<FragmentCycles> measured_cycles(const Kernel& kernel, const Workload& workload,
                                       std::span<const std::shared_ptr<const check::GuardedBuffer>> outputs,
                                       int64_t ctas);

// What the model says of them: the time of the fragment's function by the clock, for CTAs that have an SM each. Empty:
// there are more CTAs than SMs, or the time has no phase of that function.
std::optional<FragmentCycles> modelled_cycles(const Kernel& kernel, const Timing& timing, int64_t ctas,
                                              const DeviceSpec& spec);

}  // namespace attnscope::worker
