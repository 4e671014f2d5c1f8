#pragma once
#include <filesystem>
#include <vector>

#include "core/device_spec.h"
#include "core/result.h"

namespace attnscope::catalog {

struct DeviceCatalog {
  std::vector<DeviceSpec> devices;  // the default for machines without a GPU first; the others by id
  std::vector<Failure> failures;    // one for each file that did not load
};

// One emulated device: NAME.json is "emulated:NAME". Every limit and rate must have its source ("sources": the field's
// name, or "rates/NAME"), or the file is refused: a figure without a source is a guess. One shipped file says
// "default": true.
Result<DeviceSpec> load_device(const std::filesystem::path& path);

// `shipped` is assets/devices; `own` is a person's folder with such files and need not exist. A file in `own` must not
// have the name of a shipped one or be the default.
DeviceCatalog load_devices(const std::filesystem::path& shipped, const std::filesystem::path& own = {});

}  // namespace attnscope::catalog
