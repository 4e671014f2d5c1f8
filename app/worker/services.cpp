#include "worker/services.h"

#include <algorithm>

#include "core/joined.h"
#include "cuda_api/cublas.h"
#include "cuda_api/driver.h"
#include "device/cuda/cuda_device.h"
#include "device/emulated/emulated_device.h"
#include "worker/variant_request.h"

namespace attnscope::worker {
namespace {

std::filesystem::path below(const std::filesystem::path& cache, const char* folder) {
  return cache.empty() ? cache : cache / folder;
}

}  // namespace

Services::Services(std::string version, const std::filesystem::path& cache, const std::filesystem::path& assets,
                   catalog::DeviceCatalog emulated, Purpose what_for)
    : app_version(std::move(version)),
      purpose(what_for),
      compiler(std::make_shared<compile::Compiler>(compile::CompilerOptions{.cache_dir = below(cache, "variants")})),
      truth(below(cache, "references")),
      decoded_cache(below(cache, "programs")),
      ahead(pool, !cache.empty()) {
  device_failures = std::move(emulated.failures);
  if (purpose != Purpose::emulate) add_gpus(assets, emulated.devices);
  for (DeviceSpec& spec : emulated.devices)
    devices.push_back(device::make_emulated_device(std::move(spec), decoded_cache));
}

// GPUs come first, because the session's first experiment takes the first device.
void Services::add_gpus(const std::filesystem::path& assets, const std::vector<DeviceSpec>& twins) {
  auto driver = cuda_api::Driver::open();
  if (!driver) return;  // a machine without a driver is normal; `versions` shows it
  driver_ = "CUDA " + driver->version_text();
  auto nvml = cuda_api::Nvml::open();
  if (nvml && !(*nvml)->driver_version().empty()) driver_ = (*nvml)->driver_version() + ", " + driver_;
  auto calls = driver->calls();
  if (!calls) return device_failures.push_back(calls.error());
  auto gpus = device::make_cuda_devices(
      {std::make_shared<const cuda_api::DriverCalls>(*calls), nvml ? *nvml : nullptr, compiler, assets / "gpu",
       cuda_api::cublas_is_there() ? cuda_api::open_cublas : std::function<Result<cuda_api::CublasCalls>()>(),
       purpose == Purpose::profile ? std::make_shared<const Result<cuda_api::CuptiCalls>>(cuda_api::open_cupti())
                                   : nullptr},
      twins);
  if (!gpus) return device_failures.push_back(gpus.error());
  for (auto& gpu : *gpus) devices.push_back(std::move(gpu));
}

bool Services::lost() const {
  return std::ranges::any_of(devices, [](const auto& device) { return device->lost(); });
}

Result<std::shared_ptr<device::Device>> Services::find_device(const std::string& id) const {
  for (const auto& device : devices)
    if (device->spec().id == id) return device;
  const std::string known = joined(devices, [](const auto& device) { return device->spec().id; });
  return fail(Stage::device, "there is no device " + id + " here",
              known.empty() ? "No device is known." : "Use one of " + known + ".");
}

std::shared_ptr<device::Device> Services::emulated_twin(int arch) const {
  const auto twin = std::ranges::find_if(
      devices, [&](const auto& device) { return device->spec().emulated && device->spec().arch == arch; });
  return twin != devices.end() ? *twin : nullptr;
}

Result<std::shared_ptr<const compile::Variant>> Services::compile(compile::CompileRequest wanted, int64_t deadline_ms,
                                                                  const std::atomic<bool>& cancel) {
  return pool.run<std::shared_ptr<const compile::Variant>>(
      [compiler = compiler, wanted = std::move(wanted), most_ms = nvcc_ms(deadline_ms)] {
        return compiler->compile(wanted, most_ms);
      },
      cancel);
}

Versions Services::versions() const {
  Versions versions;
  versions.app = app_version;
  versions.driver = driver_;
  if (auto nvrtc = compiler->nvrtc_version()) versions.nvrtc = *nvrtc;
  if (auto nvcc = compiler->nvcc_version()) versions.nvcc = *nvcc;
  return versions;
}

}  // namespace attnscope::worker
