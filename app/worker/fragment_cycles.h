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

// The clocks that a microbenchmark's CTAs measured on a GPU. `outputs` are the operands of role out and inout, in
// order. Failure (Stage::check): their number is not that of the CTAs, or one is not a number above 0.
Result<FragmentCycles> measured_cycles(const Kernel& kernel, const Workload& workload,
                                       std::span<const std::shared_ptr<const check::GuardedBuffer>> outputs,
                                       int64_t ctas);

// The same clocks from the model: the time of the fragment's function in clocks, if each CTA has an SM of its own.
// Empty: there are more CTAs than SMs, or the time has no phase of that function.
std::optional<FragmentCycles> modelled_cycles(const Kernel& kernel, const Timing& timing, int64_t ctas,
                                              const DeviceSpec& spec);

}  // namespace attnscope::worker
