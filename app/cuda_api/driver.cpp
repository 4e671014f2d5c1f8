#include "cuda_api/driver.h"

#include "platform/paths.h"

namespace attnscope::cuda_api {
namespace {

// CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
constexpr int attribute_major = 75, attribute_minor = 76;

tl::unexpected<Failure> driver_failure(const char* call, int code) {
  return fail(Stage::device, std::string(call) + " failed with CUDA error " + std::to_string(code) + ".",
              "Check the GPU with nvidia-smi; the driver may not be loaded, or this process may not use it.");
}

}  // namespace

Result<Driver> Driver::open() {
  const std::string named = platform::environment("ATTNSCOPE_LIBCUDA");
  auto library = SharedLibrary::open(named.empty() ? "libcuda.so.1" : named);
  if (!library) {
    if (!named.empty()) return fail(library.error());
    return fail(Stage::device, "There is no NVIDIA driver on this machine (no libcuda.so.1).",
                "Kernels run on the emulated devices. To time on a GPU, install its driver.");
  }
  Driver driver(std::move(*library));
  if (auto done = driver.load(); !done) return fail(done.error());
  return driver;
}

Result<void> Driver::load() {
  Result<void> done = library_.load("cuInit", init_);
  if (done) done = library_.load("cuDriverGetVersion", driver_version_);
  if (done) done = library_.load("cuDeviceGetCount", device_count_);
  if (done) done = library_.load("cuDeviceGet", device_get_);
  if (done) done = library_.load("cuDeviceGetName", device_name_);
  if (done) done = library_.load("cuDeviceGetAttribute", device_attribute_);
  if (done) done = library_.load("cuDeviceTotalMem_v2", device_memory_);
  if (!done) return done;
  if (const int code = driver_version_(&version_); code != 0) return driver_failure("cuDriverGetVersion", code);
  return {};
}

std::string Driver::version_text() const {
  return std::to_string(version_ / 1000) + "." + std::to_string(version_ % 1000 / 10);
}

Result<std::vector<GpuInfo>> Driver::gpus() const {
  if (const int code = init_(0); code != 0) return driver_failure("cuInit", code);
  int count = 0;
  if (const int code = device_count_(&count); code != 0) return driver_failure("cuDeviceGetCount", code);
  std::vector<GpuInfo> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    GpuInfo gpu;
    gpu.ordinal = ordinal;
    int device = 0, major = 0, minor = 0;
    char name[256] = {};
    size_t bytes = 0;
    if (const int code = device_get_(&device, ordinal); code != 0) return driver_failure("cuDeviceGet", code);
    if (const int code = device_name_(name, sizeof name - 1, device); code != 0)
      return driver_failure("cuDeviceGetName", code);
    if (const int code = device_attribute_(&major, attribute_major, device); code != 0)
      return driver_failure("cuDeviceGetAttribute", code);
    if (const int code = device_attribute_(&minor, attribute_minor, device); code != 0)
      return driver_failure("cuDeviceGetAttribute", code);
    if (const int code = device_memory_(&bytes, device); code != 0) return driver_failure("cuDeviceTotalMem", code);
    gpu.name = name;
    gpu.arch = major * 10 + minor;
    gpu.memory_bytes = bytes;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace attnscope::cuda_api
