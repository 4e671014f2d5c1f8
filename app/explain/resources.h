#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::explain {

// What a kernel's resources say before it runs.
struct ResourcesSaid {
  Occupancy occupancy;  // total_ctas and what follows from it are 0 if the file gives no grid
  std::vector<Finding> findings;
};

// Finds how many CTAs fit on an SM and what keeps the next one away, whether the grid ends in a part of a wave, and a
// launch that the device refuses. Nothing is run, so no finding has a gain, and CTAs are taken to be equally long.
// `resources` is an object with device, threads (of a CTA), registers (of a thread) and, where they are not 0,
// static_shared and dynamic_shared (bytes of a CTA) and ctas (of the grid). A Failure names the fault by its JSON
// pointer after `where`.
Result<ResourcesSaid> findings_of_resources(const Json& resources, const std::string& where,
                                            std::span<const DeviceSpec> devices);

}  // namespace attnscope::explain
