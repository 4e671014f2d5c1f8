#pragma once
#include "core/device_spec.h"
#include "core/result.h"
#include "cuda_api/driver_calls.h"

namespace attnscope::device {

// A GPU's limits and clocks as its driver reports them; the source of each is the attribute's name. The driver does not
// report the rates of arithmetic units; fill_rates() adds them.
Result<DeviceSpec> read_gpu_spec(const cuda_api::DriverCalls& calls, int ordinal);

// Copies the per-SM rates, which follow from the compute capability, from the spec of a GPU with the same one; their
// sources name that GPU. The Tensor Core peak belongs to the whole board and is copied only if the number of SMs is
// equal too.
void fill_rates(DeviceSpec& gpu, const DeviceSpec& twin);

}  // namespace attnscope::device
