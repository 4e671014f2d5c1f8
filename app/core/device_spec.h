#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/library.h"
#include "core/result.h"

namespace attnscope {

// Limits and rates of a device: data (assets/devices/*.json) with a source for each value, or read from a GPU.
struct DeviceSpec {
  std::string id;    // "emulated:l4", "cuda:0"
  std::string name;  // the name from its driver, "NVIDIA L4": a GPU with this name is the same device
  int arch = 89;     // compute capability × 10
  bool emulated = true;
  // `source` for kernels with source code, and the libraries whose routines it can run.
  std::vector<Library> runs{LibraryId::source};
  // Limits
  int64_t sms = 0;
  int64_t shared_static_block = 0;    // bytes
  int64_t shared_optin_block = 0;     // bytes, dynamic after opt-in
  int64_t shared_sm = 0;              // bytes
  int64_t shared_reserved_block = 0;  // bytes
  int64_t warps_sm = 0;
  int64_t ctas_sm = 0;
  int64_t registers_sm = 0;
  int64_t registers_block = 0;
  int64_t threads_block = 1024;
  // Rates
  double clock_mhz = 0;            // boost
  double sustained_clock_mhz = 0;  // what the board sustains under load; 0: unknown
  double dram_gbs = 0;
  double l2_mb = 0;
  double tensor_tflops_f16 = 0;
  std::map<std::string, double>
      rates;  // per SM and clock: "fp32", "fp16x2", "int", "mufu", "conversion", "lsu"… and latencies
  std::map<std::string, std::string> sources;  // field or rate name → the source of its value
  bool operator==(const DeviceSpec&) const = default;
};

Json to_json(const DeviceSpec& spec);
Result<DeviceSpec> device_spec_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
