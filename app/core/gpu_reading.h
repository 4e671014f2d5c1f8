#pragma once
#include <string>
#include <vector>

namespace attnscope {

// What a GPU reported at one moment. 0: it does not report that figure.
struct GpuReading {
  std::string device;    // id, as in DeviceSpec
  double clock_mhz = 0;  // of the SMs
  double power_w = 0, power_limit_w = 0;
  double temperature_c = 0;
  std::vector<std::string> reasons;  // what limits the clock, in NVML's terms: "power cap"
  bool operator==(const GpuReading&) const = default;
};

}  // namespace attnscope
