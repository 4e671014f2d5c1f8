#pragma once
#include <atomic>
#include <filesystem>
#include <memory>

#include "core/touch.h"
#include "device/device.h"

namespace attnscope::device {

// A device that executes the variant's machine code on this CPU. `decoded_cache` keeps decoded programs by their hash;
// empty: none are kept on disk.
std::unique_ptr<Device> make_emulated_device(DeviceSpec spec, std::filesystem::path decoded_cache);

// Runs every CTA of a kernel's one launch and says what they accessed. `request` is as for Device::run() of a device
// that make_emulated_device() made. `most_work`: of Touches::work. Failures: as there, and Stage::deadline where it is
// more.
Result<Touches> touches_of(const LaunchRequest& request, uint64_t most_work, const std::atomic<bool>& cancel);

}  // namespace attnscope::device
