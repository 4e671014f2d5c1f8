#pragma once
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::sweep {

// The emulated device that models a GPU: the one with that id, or for an empty id the one with the GPU's name. Failure
// (Stage::input): there is none.
Result<DeviceSpec> emulated_twin(const DeviceSpec& gpu, const std::string& id, const std::vector<DeviceSpec>& known);

// The share of an emulated kernel's CTAs to run, (0, 1]: all for a small problem, for a large one as many as take about
// half a second.
double emulated_share(const Problem& problem);

// The share for a run of which only the modelled time counts: the model follows a few CTAs, so a few are run.
double ranking_share(const Problem& problem);

}  // namespace attnscope::sweep
