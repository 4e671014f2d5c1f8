#pragma once
#include "core/result.h"
#include "core/softmax_steps.h"
#include "worker/pipeline.h"

namespace attnscope::worker {

// Executes the CTA of one query row in the emulator (for a GPU's kernel, on an emulated device of its architecture). At
// each key tile it reads the row's state from the places that the manifest's "softmax" names. Failures: those of a run;
// Stage::input, the manifest has no "softmax", or there is no such row; Stage::catalog, this config's code or shared
// memory lacks a named place.
Result<SoftmaxSteps> step_softmax(Services& services, const Request& request, const SoftmaxRow& row, Sink& sink);

}  // namespace attnscope::worker
