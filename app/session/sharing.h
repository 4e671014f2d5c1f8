#pragma once
#include <string>
#include <vector>

#include "core/device_spec.h"
#include "core/observation.h"

namespace attnscope::session {

// Devices of several workers that share a scan's points, each of which takes the next one. What they run counts as run
// on the scan's own device, so all must be like it.
struct Sharing {
  std::vector<std::string> devices;  // by the session's ids, each of another worker; it may come later
  DeviceSpec device;                 // the scan's own; its id is the one that experiments name
  Versions versions;                 // of a worker that has it
};

// Why the times of two devices are not to be compared, as a sentence that names both: another model, another limit or
// rate, another compiler or driver. Empty: they are alike. Ids do not count.
std::string unlike(const DeviceSpec& a, const Versions& of_a, const DeviceSpec& b, const Versions& of_b);

}  // namespace attnscope::session
