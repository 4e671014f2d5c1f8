#pragma once
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/result.h"

namespace attnscope::cli {

// The emulated device that models a GPU: the one with that id, or for an empty id the one with the GPU's name. Failure
// (Stage::input): there is none.
Result<DeviceSpec> emulated_twin(const DeviceSpec& gpu, const std::string& id, const std::vector<DeviceSpec>& known);

}  // namespace attnscope::cli
