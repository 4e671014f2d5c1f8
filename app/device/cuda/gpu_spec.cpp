#include "device/cuda/gpu_spec.h"

#include "core/device_id.h"

namespace attnscope::device {
namespace {

using cuda_api::Attribute;

// Reads attributes of one device and stops at the first that the driver refuses.
class Reader {
 public:
  Reader(const cuda_api::DriverCalls& calls, int device, DeviceSpec& spec)
      : calls_(calls), device_(device), spec_(spec) {}

  int64_t value(Attribute attribute, const char* name) {
    int value = 0;
    if (!done_) return 0;
    const int code = calls_.device_attribute(&value, static_cast<int>(attribute), device_);
    if (code != cuda_api::kCudaSuccess)
      done_ = fail(Stage::device,
                   std::string("cuDeviceGetAttribute(") + name + ") failed with " + calls_.name_of(code) + ".",
                   "The driver may be older than CUDA 11.8.");
    return value;
  }
  int64_t noted(const char* field, Attribute attribute, const char* name) {
    spec_.sources[field] = std::string("cuDeviceGetAttribute(") + name + ")";
    return value(attribute, name);
  }
  const Result<void>& done() const { return done_; }

 private:
  const cuda_api::DriverCalls& calls_;
  int device_;
  DeviceSpec& spec_;
  Result<void> done_;
};

}  // namespace

Result<DeviceSpec> read_gpu_spec(const cuda_api::DriverCalls& calls, int ordinal) {
  DeviceSpec spec;
  spec.id = gpu_id(ordinal);
  spec.emulated = false;
  int device = 0;
  char name[256] = {};
  if (calls.device_get(&device, ordinal) != cuda_api::kCudaSuccess ||
      calls.device_name(name, sizeof name - 1, device) != cuda_api::kCudaSuccess)
    return fail(Stage::device, spec.id + " does not answer.", "Check the GPU with nvidia-smi.");
  spec.name = name;
  Reader read(calls, device, spec);
  spec.arch = static_cast<int>(
      10 * read.noted("arch", Attribute::compute_capability_major, "COMPUTE_CAPABILITY_MAJOR, _MINOR") +
      read.value(Attribute::compute_capability_minor, "COMPUTE_CAPABILITY_MINOR"));
  spec.sms = read.noted("sms", Attribute::multiprocessor_count, "MULTIPROCESSOR_COUNT");
  spec.shared_static_block =
      read.noted("shared_static_block", Attribute::max_shared_memory_per_block, "MAX_SHARED_MEMORY_PER_BLOCK");
  spec.shared_optin_block = read.noted("shared_optin_block", Attribute::max_shared_memory_per_block_optin,
                                       "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN");
  spec.shared_sm =
      read.noted("shared_sm", Attribute::max_shared_memory_per_multiprocessor, "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR");
  spec.shared_reserved_block = read.noted("shared_reserved_block", Attribute::reserved_shared_memory_per_block,
                                          "RESERVED_SHARED_MEMORY_PER_BLOCK");
  spec.warps_sm =
      read.noted("warps_sm", Attribute::max_threads_per_multiprocessor, "MAX_THREADS_PER_MULTIPROCESSOR") / 32;
  spec.ctas_sm = read.noted("ctas_sm", Attribute::max_blocks_per_multiprocessor, "MAX_BLOCKS_PER_MULTIPROCESSOR");
  spec.registers_sm =
      read.noted("registers_sm", Attribute::max_registers_per_multiprocessor, "MAX_REGISTERS_PER_MULTIPROCESSOR");
  spec.registers_block = read.noted("registers_block", Attribute::max_registers_per_block, "MAX_REGISTERS_PER_BLOCK");
  spec.threads_block = read.noted("threads_block", Attribute::max_threads_per_block, "MAX_THREADS_PER_BLOCK");
  spec.clock_mhz = static_cast<double>(read.noted("clock_mhz", Attribute::clock_rate, "CLOCK_RATE")) / 1e3;
  spec.l2_mb = static_cast<double>(read.noted("l2_mb", Attribute::l2_cache_size, "L2_CACHE_SIZE")) / (1 << 20);
  // Memory clock in kHz, two transfers per clock, bus width in bits.
  const auto kilohertz = static_cast<double>(
      read.noted("dram_gbs", Attribute::memory_clock_rate, "MEMORY_CLOCK_RATE, GLOBAL_MEMORY_BUS_WIDTH"));
  spec.dram_gbs = 2 * kilohertz *
                  static_cast<double>(read.value(Attribute::global_memory_bus_width, "GLOBAL_MEMORY_BUS_WIDTH")) / 8 /
                  1e6;
  if (!read.done()) return fail(read.done().error());
  return spec;
}

void fill_rates(DeviceSpec& gpu, const DeviceSpec& twin) {
  gpu.rates = twin.rates;
  for (const auto& [name, source] : twin.sources)
    if (name.starts_with("rates/")) gpu.sources[name] = "as " + twin.id + ", which has the same SMs: " + source;
  if (gpu.sms != twin.sms || twin.tensor_tflops_f16 <= 0) return;
  gpu.tensor_tflops_f16 = twin.tensor_tflops_f16;
  const auto source = twin.sources.find("tensor_tflops_f16");
  gpu.sources["tensor_tflops_f16"] = "as " + twin.id + (source == twin.sources.end() ? "" : ": " + source->second);
}

}  // namespace attnscope::device
