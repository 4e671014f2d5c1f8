#pragma once
#include <string>

#include "core/result.h"
#include "cuda_api/cupti_layout.h"
#include "cuda_api/cupti_sampling_layout.h"
#include "cuda_api/shared_library.h"

namespace attnscope::cuda_api {

// CUPTI's functions that read a GPU's counters over a range of launches and sample where its warps are, named as in its
// reference (CUPTI 12.6 and later); each returns a CUptiResult, 0 on success. A plain table, so that a test can put its
// own functions in place of the library.
struct CuptiCalls {
  int (*result_text)(int code, const char**) = nullptr;
  int (*initialize)(cupti::Initialize*) = nullptr;
  int (*device_supported)(cupti::DeviceSupported*) = nullptr;
  int (*chip_name)(cupti::ChipName*) = nullptr;
  int (*host_initialize)(cupti::HostInitialize*) = nullptr;
  int (*host_deinitialize)(cupti::HostDeinitialize*) = nullptr;
  int (*add_metrics)(cupti::AddMetrics*) = nullptr;
  int (*config_size)(cupti::ConfigSize*) = nullptr;
  int (*config_image)(cupti::ConfigImage*) = nullptr;
  int (*passes)(cupti::Passes*) = nullptr;
  int (*evaluate)(cupti::Evaluate*) = nullptr;
  int (*enable)(cupti::RangeEnable*) = nullptr;
  int (*disable)(cupti::RangeOnly*) = nullptr;
  int (*set_config)(cupti::RangeConfig*) = nullptr;
  int (*start)(cupti::RangeOnly*) = nullptr;
  int (*stop)(cupti::RangeStop*) = nullptr;
  int (*push)(cupti::RangePush*) = nullptr;
  int (*pop)(cupti::RangeOnly*) = nullptr;
  int (*decode)(cupti::RangeDecode*) = nullptr;
  int (*data_size)(cupti::DataSize*) = nullptr;
  int (*data_initialize)(cupti::DataInitialize*) = nullptr;
  int (*data_info)(cupti::DataInfo*) = nullptr;
  int (*sampling_enable)(cupti::SamplingOnly*) = nullptr;
  int (*sampling_disable)(cupti::SamplingOnly*) = nullptr;
  int (*sampling_start)(cupti::SamplingOnly*) = nullptr;
  int (*sampling_stop)(cupti::SamplingOnly*) = nullptr;
  int (*stall_reason_count)(cupti::StallReasonCount*) = nullptr;
  int (*stall_reasons)(cupti::StallReasons*) = nullptr;
  int (*sampling_settings)(cupti::SamplingSettings*) = nullptr;
  int (*sampling_get)(cupti::SamplingGet*) = nullptr;
  int (*cubin_crc)(cupti::CubinCrc*) = nullptr;

  std::string library_version{};  // from the library's file name: "2025.3.1" of a toolkit, "13" of a wheel

  // Failure (Stage::device) that names the first function that the library lacks.
  static Result<CuptiCalls> load(const SharedLibrary& library);

  std::string name_of(int code) const;  // "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", or its number
};

// The CUptiResult values that this program distinguishes.
inline constexpr int kCuptiSuccess = 0;
inline constexpr int kCuptiOutOfMemory = 8;
inline constexpr int kCuptiHardwareBusy = 26;
inline constexpr int kCuptiNotSupported = 27;
inline constexpr int kCuptiInsufficientPrivileges = 35;
inline constexpr int kCuptiMultipleSubscribers = 39;
inline constexpr int kCuptiVirtualInsufficientPrivileges = 40;

// The CUPTI of this machine's driver (choose_library), opened and not yet initialized: cuptiProfilerInitialize fails
// with CUPTI_ERROR_UNKNOWN before the driver has a context (bench/results/counters_h200.txt). It attaches to the
// driver, so only a process that times nothing opens it. Failure: Stage::device.
Result<CuptiCalls> open_cupti();

}  // namespace attnscope::cuda_api
