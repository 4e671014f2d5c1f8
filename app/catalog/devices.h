#pragma once
#include <filesystem>
#include <vector>

#include "core/device_spec.h"
#include "core/result.h"

namespace attnscope::catalog {

struct DeviceCatalog {
  std::vector<DeviceSpec> devices;  // the default first, where no GPU is; the others by id
  std::vector<Failure> failures;    // one for each file that did not load
};

// One emulated device: assets/devices/NAME.json is "emulated:NAME". Every limit and rate must have its source
// ("sources": the field's name, or "rates/NAME"), or the file is refused: a figure without a source is a guess. One
// file says "default": true.
Result<DeviceSpec> load_device(const std::filesystem::path& path);

DeviceCatalog load_devices(const std::filesystem::path& dir);

}  // namespace attnscope::catalog
