#pragma once
#include "core/result.h"
#include "core/softmax_steps.h"
#include "worker/pipeline.h"

namespace attnscope::worker {

// Executes the CTA of one query row in the emulator (of a GPU's kernel, on an emulated device of its architecture) and
// reads at each key tile what the kernel holds of the row, where its manifest's "softmax" says. Failures: those of a
// run; Stage::input, the manifest says nothing, or there is no such row; Stage::catalog, a named place is not in this
// config's code or shared memory.
Result<SoftmaxSteps> step_softmax(Services& services, const Request& request, const SoftmaxRow& row, Sink& sink);

}  // namespace attnscope::worker
