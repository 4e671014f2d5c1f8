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

// Judges the outputs of request.kernel, whose "reference" names another kernel. That kernel runs on the same inputs and
// device, after a watch of it in the emulator. The verdict is unchecked, with the reason, if the reference is refused,
// fails, has an error of its own, runs only in part or leaves an element unwritten. `operands` and `workload` are those
// of request.kernel. Failures: Stage::cancelled, and a device lost during the reference's run.
Result<Verdict> judge_by_kernel(Services& services, const Request& request, const Workload& workload,
                                const check::Operands& operands, const device::LaunchOutcome& outcome, Sink& sink);

}  // namespace attnscope::worker
