#pragma once
#include <filesystem>
#include <memory>

#include "device/device.h"

namespace attnscope::device {

// A device that executes the variant's machine code on this CPU. `decoded_cache` keeps decoded programs by their hash;
// empty: none are kept on disk.
std::unique_ptr<Device> make_emulated_device(DeviceSpec spec, std::filesystem::path decoded_cache);

}  // namespace attnscope::device
