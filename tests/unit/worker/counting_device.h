#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "device/device.h"
#include "worker/services.h"

namespace attnscope::worker {

// Counts the runs of the device that it wraps.
class CountingDevice final : public device::Device {
 public:
  explicit CountingDevice(std::shared_ptr<device::Device> runs) : runs_(std::move(runs)) {}
  const DeviceSpec& spec() const override { return runs_->spec(); }
  Result<std::shared_ptr<const device::Loaded>> load(const compile::Variant& variant) override {
    return runs_->load(variant);
  }
  Result<device::LaunchOutcome> run(const device::LaunchRequest& request, const device::LaunchEvents& events) override {
    ++begun;
    return runs_->run(request, events);
  }
  std::atomic<int> begun{0};

 private:
  std::shared_ptr<device::Device> runs_;
};

// From this call on the runs of that device are counted.
inline std::shared_ptr<CountingDevice> count_runs(Services& services, const std::string& id) {
  auto& device = *std::ranges::find(services.devices, id, [](const auto& one) { return one->spec().id; });
  auto counting = std::make_shared<CountingDevice>(device);
  device = counting;
  return counting;
}

}  // namespace attnscope::worker
