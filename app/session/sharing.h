#pragma once
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/observation.h"

namespace attnscope::session {

// Devices of several workers that share a scan's points; each takes the next free point. Every run counts as one on the
// scan's own device, so all of them must be like it.
struct Sharing {
  std::vector<std::string> devices;  // the session's ids, each on another worker, which may connect later
  DeviceSpec device;                 // the scan's own device; experiments name its id
  Versions versions;                 // of a worker that has the device
  bool by_nvcc = false;              // nvcc compiles some of the sweep's configs, so its version counts
};

// Why the times of two devices cannot be compared, as a sentence that names both: another model, another limit or rate,
// another compiler or driver. Empty if they are alike. Ids are ignored. `by_nvcc`: nvcc's version counts too.
std::string unlike(const DeviceSpec& a, const Versions& of_a, const DeviceSpec& b, const Versions& of_b,
                   bool by_nvcc = false);

}  // namespace attnscope::session
