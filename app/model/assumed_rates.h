#pragma once
#include <string_view>

#include "core/device_spec.h"

namespace attnscope::model {

// The spec with every figure that the model reads: a rate that the spec lacks gets the value that the model uses for
// it, and its source begins with kAssumed. A rate that has no value then, because nothing takes its place, has only a
// source. The model says the same of either spec.
DeviceSpec with_assumed_rates(DeviceSpec spec);

inline constexpr const char* kAssumed = "assumed: ";

// Whether a device may have 0 there: clocks for which nothing is kept waiting, or no such SMs.
bool may_be_zero(std::string_view rate);

}  // namespace attnscope::model
