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

// One emulated device: NAME.json is "emulated:NAME". Every limit and rate must have its source ("sources": the field's
// name, or "rates/NAME"), or the file is refused: a figure without a source is a guess. One shipped file says
// "default": true.
Result<DeviceSpec> load_device(const std::filesystem::path& path);

// `shipped` is assets/devices; `own` is a person's folder of such files and may be missing. A file of `own` may neither
// take the name of a shipped one nor be the default.
DeviceCatalog load_devices(const std::filesystem::path& shipped, const std::filesystem::path& own = {});

}  // namespace attnscope::catalog
