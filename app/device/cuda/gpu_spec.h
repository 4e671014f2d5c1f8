#pragma once
#include "core/device_spec.h"
#include "core/result.h"
#include "cuda_api/driver_calls.h"

namespace attnscope::device {

// A GPU's limits and clocks as its driver gives them, the attribute's name as the source of each. Rates of its
// arithmetic units are not the driver's to give: fill_rates has them.
Result<DeviceSpec> read_gpu_spec(const cuda_api::DriverCalls& calls, int ordinal);

// Per-SM rates follow from the compute capability: taken from the spec of a GPU that has the same, their sources named
// after it. What belongs to the whole board (Tensor Core peak) is taken when the board is the same one: equal SMs.
void fill_rates(DeviceSpec& gpu, const DeviceSpec& twin);

}  // namespace attnscope::device
