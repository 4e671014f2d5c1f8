#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "cuda_api/shared_library.h"

namespace attnscope::cuda_api {

// The state of a GPU at one moment; 0 for figures that it does not report.
struct GpuState {
  double clock_mhz = 0;  // of the SMs
  double power_w = 0;
  double power_limit_w = 0;  // the enforced limit
  double temperature_c = 0;
  uint64_t reasons = 0;  // nvmlClocksEventReasons: what limits the clock
};

// Bits of GpuState::reasons, from the NVML reference.
inline constexpr uint64_t kReasonIdle = 0x1, kReasonPowerCap = 0x4, kReasonHardware = 0x8, kReasonThermal = 0x20,
                          kReasonHardwareThermal = 0x40, kReasonPowerBrake = 0x80;
// "power cap", "thermal slowdown", …, without idle.
std::vector<std::string> reason_words(uint64_t reasons);

// NVML, the driver's library for clocks, power and temperatures, opened at run time.
class Nvml {
 public:
  // Opens $ATTNSCOPE_LIBNVML, otherwise the system's libnvidia-ml.so.1. Failure: Stage::device.
  static Result<std::shared_ptr<const Nvml>> open();

  std::string driver_version() const;  // "580.95.05"; empty if NVML does not report it

  struct Gpu;  // nvmlDevice_t points to this; opaque
  // `pci_bus_id` is that of cuDeviceGetPCIBusId. Failure: Stage::device.
  Result<Gpu*> find(const std::string& pci_bus_id) const;
  // Reads clock and reasons, which takes about 20 us; with `all`, also power and temperature.
  GpuState state(Gpu* gpu, bool all) const;

 private:
  explicit Nvml(SharedLibrary library) : library_(std::move(library)) {}
  Result<void> load();

  SharedLibrary library_;
  // Signatures as in the NVML reference; nvmlReturn_t is an int, 0 on success.
  int (*init_)() = nullptr;
  int (*driver_version_)(char*, unsigned length) = nullptr;
  int (*by_pci_)(const char*, Gpu**) = nullptr;
  int (*clock_)(Gpu*, int type, unsigned* mhz) = nullptr;
  int (*power_)(Gpu*, unsigned* milliwatt) = nullptr;
  int (*power_limit_)(Gpu*, unsigned* milliwatt) = nullptr;
  int (*temperature_)(Gpu*, int sensor, unsigned* celsius) = nullptr;
  int (*reasons_)(Gpu*, unsigned long long*) = nullptr;
};

}  // namespace attnscope::cuda_api
