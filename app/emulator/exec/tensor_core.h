#pragma once
#include <cstdint>
#include <span>

#include "emulator/isa/tensor_sum.h"

// A Tensor Core's result for one m16n8k16. NVIDIA documents neither the order nor the width of the sum.
namespace attnscope::emulator {

// The format of the operands and of the sum.
enum class TensorKind : uint8_t { f16_f32, bf16_f32, f16_f16 };

// One output, computed with integers. The handlers (lanes/tensor.inc) compute the same bits faster and fall back to
// this.
uint32_t multiply_add_one(TensorSum sum, TensorKind kind, const uint16_t (&row)[16], const uint16_t (&column)[16],
                          uint32_t c);

// The same for words in TF32 format. `row` and `column` have equal length, at most 8.
uint32_t multiply_add_tf32(TensorSum sum, std::span<const uint32_t> row, std::span<const uint32_t> column, uint32_t c);

}  // namespace attnscope::emulator
