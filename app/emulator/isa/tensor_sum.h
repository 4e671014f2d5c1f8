#pragma once

namespace attnscope::emulator {

// How an architecture adds: `depth` products and the sum so far at once, each cut (towards zero) to `fraction_bits`
// bits below the largest exponent among them. The total is exact; it is cut to fp32, or rounded to the nearest fp16.
struct TensorSum {
  int depth;
  int fraction_bits;
};

// sm_90: settled by 349,696 recorded products a kind, 128 outputs each (tests/data/gpu/mma). sm_80 and sm_89:
// published, not recorded here (P. Xie et al., "MMA-Sim", arXiv 2511.10909, 2025).
constexpr TensorSum tensor_sum(int arch) { return arch >= 90 ? TensorSum{16, 25} : TensorSum{8, 24}; }
// Of TF32: half as many products at once.
constexpr TensorSum tf32_sum(int arch) { return {tensor_sum(arch).depth / 2, tensor_sum(arch).fraction_bits}; }

}  // namespace attnscope::emulator
