#pragma once
#include <cstddef>
#include <cstdint>

// The parameters of CUPTI's functions: one structure each, whose first word is its size, by which CUPTI knows the
// version that its caller was built for. CUPTI 12.6, the first with the Range Profiler, and 13.0 have the same
// structures (compared with cupti_range_profiler.h, cupti_profiler_host.h, cupti_profiler_target.h and cupti_target.h
// of both). Fields that CUPTI writes are marked "out".
namespace attnscope::cuda_api::cupti {

struct HostObject;   // CUpti_Profiler_Host_Object
struct RangeObject;  // CUpti_RangeProfiler_Object

// A size that ends with the last field, as CUPTI's macros compute it: trailing padding is not included.
#define ATTNSCOPE_CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))

struct Initialize {
  size_t size = ATTNSCOPE_CUPTI_SIZE(Initialize, reserved);
  void* reserved = nullptr;
};

inline constexpr int kRangeProfiling = 0, kPcSampling = 1;  // CUpti_Profiler_API

enum class Support : int { unknown, unsupported, disabled, supported };

struct DeviceSupported {
  size_t size = ATTNSCOPE_CUPTI_SIZE(DeviceSupported, api);
  void* reserved = nullptr;
  int device = 0;                  // CUdevice
  Support all = Support::unknown;  // out, like those below
  Support architecture = Support::unknown, sli = Support::unknown, vgpu = Support::unknown;
  Support confidential_compute = Support::unknown, mining = Support::unknown, wsl = Support::unknown;
  int api = 0;  // kRangeProfiling or kPcSampling
};

struct ChipName {
  size_t size = ATTNSCOPE_CUPTI_SIZE(ChipName, name);
  void* reserved = nullptr;
  size_t device = 0;
  const char* name = nullptr;  // out
};

struct HostInitialize {
  size_t size = ATTNSCOPE_CUPTI_SIZE(HostInitialize, host);
  void* reserved = nullptr;
  int profiler = 0;  // CUPTI_PROFILER_TYPE_RANGE_PROFILER
  const char* chip = nullptr;
  const uint8_t* availability = nullptr;
  HostObject* host = nullptr;  // out
};

struct HostDeinitialize {
  size_t size = ATTNSCOPE_CUPTI_SIZE(HostDeinitialize, host);
  void* reserved = nullptr;
  HostObject* host = nullptr;
};

struct AddMetrics {
  size_t size = ATTNSCOPE_CUPTI_SIZE(AddMetrics, count);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  const char** names = nullptr;
  size_t count = 0;
};

struct ConfigSize {
  size_t size = ATTNSCOPE_CUPTI_SIZE(ConfigSize, bytes);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  size_t bytes = 0;  // out
};

struct ConfigImage {
  size_t size = ATTNSCOPE_CUPTI_SIZE(ConfigImage, image);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  size_t bytes = 0;
  uint8_t* image = nullptr;
};

struct Passes {
  size_t size = ATTNSCOPE_CUPTI_SIZE(Passes, passes);
  void* reserved = nullptr;
  size_t bytes = 0;
  uint8_t* image = nullptr;
  size_t passes = 0;  // out
};

struct Evaluate {
  size_t size = ATTNSCOPE_CUPTI_SIZE(Evaluate, values);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  const uint8_t* image = nullptr;
  size_t bytes = 0;
  size_t range = 0;
  const char** names = nullptr;
  size_t count = 0;
  double* values = nullptr;
};

struct RangeEnable {
  size_t size = ATTNSCOPE_CUPTI_SIZE(RangeEnable, ranges);
  void* reserved = nullptr;
  void* context = nullptr;
  RangeObject* ranges = nullptr;  // out
};

// For cuptiRangeProfilerDisable, Start and PopRange.
struct RangeOnly {
  size_t size = ATTNSCOPE_CUPTI_SIZE(RangeOnly, ranges);
  void* reserved = nullptr;
  RangeObject* ranges = nullptr;
};

struct RangePush {
  size_t size = ATTNSCOPE_CUPTI_SIZE(RangePush, name);
  void* reserved = nullptr;
  RangeObject* ranges = nullptr;
  const char* name = nullptr;
};

inline constexpr int kUserRange = 2;   // CUPTI_UserRange
inline constexpr int kUserReplay = 3;  // CUPTI_UserReplay

struct RangeConfig {
  size_t size = ATTNSCOPE_CUPTI_SIZE(RangeConfig, target_level);
  void* reserved = nullptr;
  RangeObject* ranges = nullptr;
  size_t config_bytes = 0;
  const uint8_t* config = nullptr;
  size_t data_bytes = 0;
  uint8_t* data = nullptr;
  int range = kUserRange;
  int replay = kUserReplay;
  size_t most_ranges = 1;
  uint16_t levels = 1, least_level = 1;
  size_t pass = 0;
  uint16_t target_level = 1;
};

struct RangeStop {
  size_t size = ATTNSCOPE_CUPTI_SIZE(RangeStop, all_passes);
  void* reserved = nullptr;
  RangeObject* ranges = nullptr;
  size_t pass = 0, target_level = 0;  // out
  uint8_t all_passes = 0;             // out
};

struct RangeDecode {
  size_t size = ATTNSCOPE_CUPTI_SIZE(RangeDecode, dropped);
  void* reserved = nullptr;
  RangeObject* ranges = nullptr;
  size_t dropped = 0;  // out
};

struct DataSize {
  size_t size = ATTNSCOPE_CUPTI_SIZE(DataSize, bytes);
  void* reserved = nullptr;
  RangeObject* ranges = nullptr;
  const char** names = nullptr;
  size_t count = 0;
  size_t most_ranges = 1;
  uint32_t most_nodes = 1;
  size_t bytes = 0;  // out
};

struct DataInitialize {
  size_t size = ATTNSCOPE_CUPTI_SIZE(DataInitialize, image);
  void* reserved = nullptr;
  RangeObject* ranges = nullptr;
  size_t bytes = 0;
  uint8_t* image = nullptr;
};

struct DataInfo {
  size_t size = ATTNSCOPE_CUPTI_SIZE(DataInfo, ranges);
  void* reserved = nullptr;
  const uint8_t* image = nullptr;
  size_t bytes = 0;
  size_t ranges = 0;  // out
};

#undef ATTNSCOPE_CUPTI_SIZE

}  // namespace attnscope::cuda_api::cupti
