#pragma once
#include <cstdint>
#include <span>

// What the Tensor Cores make of one m16n8k16. NVIDIA documents neither the order nor the width of the sum.
namespace attnscope::emulator {

// The operands' format and the sum's.
enum class TensorKind : uint8_t { f16_f32, bf16_f32, f16_f16 };

// How an architecture adds: `depth` products and the sum so far at once, each cut (towards zero) to `fraction_bits`
// bits below the largest exponent among them. The total is exact; it is cut to fp32, or rounded to the nearest fp16.
struct TensorSum {
  int depth;
  int fraction_bits;
};

// sm_90: settled by 349,696 recorded products a kind, 128 outputs each (tests/data/gpu/mma). sm_80 and sm_89:
// published, not recorded here (P. Xie et al., "MMA-Sim", arXiv 2511.10909, 2025).
constexpr TensorSum tensor_sum(int arch) { return arch >= 90 ? TensorSum{16, 25} : TensorSum{8, 24}; }

// One output, by whole numbers. The handlers (lanes/tensor.inc) have a faster way to the same bits and fall back to
// this.
uint32_t multiply_add_one(TensorSum sum, TensorKind kind, const uint16_t (&row)[16], const uint16_t (&column)[16],
                          uint32_t c);

// Of words in TF32's format: half as many products at once. `row` and `column` are as long, at most 8.
constexpr TensorSum tf32_sum(int arch) { return {tensor_sum(arch).depth / 2, tensor_sum(arch).fraction_bits}; }
uint32_t multiply_add_tf32(TensorSum sum, std::span<const uint32_t> row, std::span<const uint32_t> column, uint32_t c);

}  // namespace attnscope::emulator
