#pragma once
#include <string>

#include "core/device_spec.h"
#include "core/observation.h"
#include "core/result.h"
#include "model/occupancy.h"

namespace attnscope::model {

// Checks whether the device would accept the launch. Failure (Stage::limits) with both figures, for the first of: grid
// and block sizes, threads, registers, static shared memory, all shared memory: "asks 147,456 B of shared memory;
// emulated:l4 gives 101,376 per CTA". The sentence starts with `who`: the kernel's id, with its config if it has one.
Result<void> check_limits(const DeviceSpec& spec, const VariantInfo& variant, const LaunchShape& launch,
                          const std::string& who);

// The refusal of static shared memory if the caller knows the bytes before there is a variant: the assembler refuses it
// on every architecture.
Failure static_shared_failure(const DeviceSpec& spec, int64_t bytes, const std::string& who);

}  // namespace attnscope::model
