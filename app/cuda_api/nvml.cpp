#include "cuda_api/nvml.h"

#include "platform/paths.h"

namespace attnscope::cuda_api {
namespace {

constexpr int kClockSm = 1;     // NVML_CLOCK_SM
constexpr int kSensorGpu = 0;   // NVML_TEMPERATURE_GPU
constexpr int kTextBytes = 96;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80

}  // namespace

std::vector<std::string> reason_words(uint64_t reasons) {
  static constexpr std::pair<uint64_t, const char*> kWords[] = {{0x2, "application clocks"},
                                                                {kReasonPowerCap, "power cap"},
                                                                {kReasonHardware, "hardware slowdown"},
                                                                {0x10, "synchronised boost"},
                                                                {kReasonThermal, "thermal slowdown"},
                                                                {kReasonHardwareThermal, "hardware thermal slowdown"},
                                                                {kReasonPowerBrake, "hardware power brake"},
                                                                {0x100, "display clocks"}};
  std::vector<std::string> words;
  for (const auto& [bit, word] : kWords)
    if (reasons & bit) words.emplace_back(word);
  return words;
}

Result<std::shared_ptr<const Nvml>> Nvml::open() {
  const std::string named = platform::environment("ATTNSCOPE_LIBNVML");
  auto library = SharedLibrary::open(named.empty() ? "libnvidia-ml.so.1" : named);
  if (!library) return fail(library.error());
  std::shared_ptr<Nvml> nvml(new Nvml(std::move(*library)));
  if (auto done = nvml->load(); !done) return fail(done.error());
  if (const int code = nvml->init_(); code != 0)
    return fail(Stage::device, "nvmlInit failed with NVML error " + std::to_string(code) + ".",
                "Clocks and power stay unknown.");
  return nvml;
}

Result<void> Nvml::load() {
  FunctionLoader take{library_};
  take("nvmlInit_v2", init_);
  take("nvmlSystemGetDriverVersion", driver_version_);
  take("nvmlDeviceGetHandleByPciBusId_v2", by_pci_);
  take("nvmlDeviceGetClockInfo", clock_);
  take("nvmlDeviceGetPowerUsage", power_);
  take("nvmlDeviceGetEnforcedPowerLimit", power_limit_);
  take("nvmlDeviceGetTemperature", temperature_);
  // Driver 12.2 renamed the reasons; drivers have both names until the old one is removed.
  if (take.done && !library_.load("nvmlDeviceGetCurrentClocksEventReasons", reasons_))
    take("nvmlDeviceGetCurrentClocksThrottleReasons", reasons_);
  return take.done;
}

std::string Nvml::driver_version() const {
  char text[kTextBytes] = {};
  return driver_version_(text, kTextBytes - 1) == 0 ? text : "";
}

Result<Nvml::Gpu*> Nvml::find(const std::string& pci_bus_id) const {
  Gpu* gpu = nullptr;
  if (const int code = by_pci_(pci_bus_id.c_str(), &gpu); code != 0)
    return fail(Stage::device,
                "NVML does not know the GPU " + pci_bus_id + " (NVML error " + std::to_string(code) + ").",
                "Its clock and power stay unknown.");
  return gpu;
}

GpuState Nvml::state(Gpu* gpu, bool all) const {
  GpuState state;
  unsigned value = 0;
  unsigned long long reasons = 0;
  if (clock_(gpu, kClockSm, &value) == 0) state.clock_mhz = value;
  if (reasons_(gpu, &reasons) == 0) state.reasons = reasons;
  if (!all) return state;
  if (power_(gpu, &value) == 0) state.power_w = value / 1000.0;
  if (power_limit_(gpu, &value) == 0) state.power_limit_w = value / 1000.0;
  if (temperature_(gpu, kSensorGpu, &value) == 0) state.temperature_c = value;
  return state;
}

}  // namespace attnscope::cuda_api
