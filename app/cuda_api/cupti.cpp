#include "cuda_api/cupti.h"

#include "cuda_api/choose.h"

namespace attnscope::cuda_api {

Result<CuptiCalls> CuptiCalls::load(const SharedLibrary& library) {
  CuptiCalls calls;
  FunctionLoader take{library};
  take("cuptiGetResultString", calls.result_text);
  take("cuptiProfilerInitialize", calls.initialize);
  take("cuptiProfilerDeviceSupported", calls.device_supported);
  take("cuptiDeviceGetChipName", calls.chip_name);
  take("cuptiRangeProfilerEnable", calls.enable);
  take("cuptiRangeProfilerDisable", calls.disable);
  take("cuptiRangeProfilerSetConfig", calls.set_config);
  take("cuptiRangeProfilerStart", calls.start);
  take("cuptiRangeProfilerStop", calls.stop);
  take("cuptiRangeProfilerPushRange", calls.push);
  take("cuptiRangeProfilerPopRange", calls.pop);
  take("cuptiRangeProfilerDecodeData", calls.decode);
  take("cuptiRangeProfilerGetCounterDataSize", calls.data_size);
  take("cuptiRangeProfilerCounterDataImageInitialize", calls.data_initialize);
  take("cuptiRangeProfilerGetCounterDataInfo", calls.data_info);
  take("cuptiProfilerHostInitialize", calls.host_initialize);
  take("cuptiProfilerHostDeinitialize", calls.host_deinitialize);
  take("cuptiProfilerHostConfigAddMetrics", calls.add_metrics);
  take("cuptiProfilerHostGetConfigImageSize", calls.config_size);
  take("cuptiProfilerHostGetConfigImage", calls.config_image);
  take("cuptiProfilerHostGetNumOfPasses", calls.passes);
  take("cuptiProfilerHostEvaluateToGpuValues", calls.evaluate);
  take("cuptiPCSamplingEnable", calls.sampling_enable);
  take("cuptiPCSamplingDisable", calls.sampling_disable);
  take("cuptiPCSamplingStart", calls.sampling_start);
  take("cuptiPCSamplingStop", calls.sampling_stop);
  take("cuptiPCSamplingGetNumStallReasons", calls.stall_reason_count);
  take("cuptiPCSamplingGetStallReasons", calls.stall_reasons);
  take("cuptiPCSamplingSetConfigurationAttribute", calls.sampling_settings);
  take("cuptiPCSamplingGetData", calls.sampling_get);
  take("cuptiGetCubinCrc", calls.cubin_crc);
  if (!take.done)
    return fail(Stage::device, take.done.error().message,
                "Hardware counters need CUPTI 12.6 or later: install a newer CUDA toolkit, or name its libcupti.so in "
                "$ATTNSCOPE_CUPTI.");
  return calls;
}

std::string CuptiCalls::name_of(int code) const {
  const char* name = nullptr;
  if (result_text(code, &name) == kCuptiSuccess && name != nullptr) return name;
  return "CUPTI error " + std::to_string(code);
}

Result<CuptiCalls> open_cupti() {
  auto chosen = choose_library(CudaLibrary::cupti);
  if (!chosen) return fail(chosen.error());
  auto calls = CuptiCalls::load(chosen->library);
  if (!calls) return calls;
  calls->library_version = chosen->version;
  return calls;
}

}  // namespace attnscope::cuda_api
