#pragma once
#include <functional>
#include <memory>
#include <span>

#include "check/operands.h"
#include "core/observation.h"
#include "core/result.h"
#include "core/workload.h"
#include "device/launch.h"
#include "worker/pipeline.h"

namespace attnscope::worker {

// Judges the outputs of request.kernel, whose "reference" names another kernel: that one runs on the same inputs and
// the same device, after a watch of it in the emulator. A reference that is refused, fails, has an error of its own,
// runs only in part or leaves an element unwritten makes the verdict unchecked, with the reason. `operands` and
// `workload` are those of request.kernel. Failures: Stage::cancelled, and a device that the reference's run lost.
Result<Verdict> judge_by_kernel(Services& services, const Request& request, const Workload& workload,
                                const check::Operands& operands, const device::LaunchOutcome& outcome, Sink& sink);

}  // namespace attnscope::worker
