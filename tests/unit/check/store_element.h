#pragma once
#include <cstdint>
#include <cstring>

#include "check/float_formats.h"

namespace attnscope::check {

// Rounds `value` to the tensor's type and stores it as element `index` of the tensor's bytes.
inline void store_element(DType dtype, std::byte* tensor, int64_t index, float value) {
  if (dtype == DType::f32) {
    std::memcpy(tensor + 4 * index, &value, 4);
    return;
  }
  const uint16_t bits = dtype == DType::f16 ? f16_from_float(value) : bf16_from_float(value);
  std::memcpy(tensor + 2 * index, &bits, 2);
}

}  // namespace attnscope::check
