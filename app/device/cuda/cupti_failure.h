#pragma once
#include <string>

#include "core/result.h"
#include "cuda_api/cupti.h"
#include "device/cuda/gpu.h"

namespace attnscope::device {

// Failure (Stage::device) if `code`, which the call gave, is an error: without permission it names the setting that
// gives it, and if another program holds the GPU's counters, that program. `id` is the GPU's.
Result<void> check_cupti(const std::string& id, const cuda_api::CuptiCalls& calls, int code, const char* call);

// Whether CUPTI can do on this GPU what `api` names (cupti::kRangeProfiling, kPcSampling). Failure: the GPU `lacks`
// that, and CUPTI's reason. cuptiProfilerInitialize comes before.
Result<void> ask_support(Gpu& gpu, const cuda_api::CuptiCalls& calls, int api, const char* lacks);

}  // namespace attnscope::device
