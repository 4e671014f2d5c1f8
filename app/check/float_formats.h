#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "core/problem.h"

namespace attnscope::check {

// Conversions between fp32 and the tensors' formats. They use only integer arithmetic, so that they are the same on
// every machine. They round to nearest even, keep subnormals, and turn a NaN into a quiet NaN.
constexpr uint16_t f16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  // Values from 65,520 on round to infinity.
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {                                                               // under 2^-14: subnormal
    const uint32_t shifted = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f);  // rounds at 2^-24
    return static_cast<uint16_t>(sign | (shifted - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

constexpr float float_from_f16(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float value = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -value : value;
}

constexpr uint16_t bf16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float float_from_bf16(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

// `value` rounded to `dtype`.
constexpr float round_to(DType dtype, float value) {
  switch (dtype) {
    case DType::f16:
      return float_from_f16(f16_from_float(value));
    case DType::bf16:
      return float_from_bf16(bf16_from_float(value));
    case DType::f32:
      break;
  }
  return value;
}

// Element `index` of a tensor's bytes.
inline float load_element(DType dtype, const std::byte* tensor, int64_t index) {
  if (dtype == DType::f32) {
    float value;
    std::memcpy(&value, tensor + 4 * index, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, tensor + 2 * index, 2);
  return dtype == DType::f16 ? float_from_f16(bits) : float_from_bf16(bits);
}

}  // namespace attnscope::check
