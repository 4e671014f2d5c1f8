#pragma once

namespace attnscope::emulator {

// How an architecture adds: `depth` products and the sum so far at once, each truncated (towards zero) to
// `fraction_bits` bits below the largest exponent among them. The total is exact; it is then truncated to fp32, or
// rounded to the nearest fp16.
struct TensorSum {
  int depth;
  int fraction_bits;
};

// sm_90: established by 349,696 recorded products per kind, 128 outputs each (tests/data/gpu/mma). sm_80 and sm_89: as
// published, not recorded here (P. Xie et al., "MMA-Sim", arXiv 2511.10909, 2025).
constexpr TensorSum tensor_sum(int arch) { return arch >= 90 ? TensorSum{16, 25} : TensorSum{8, 24}; }
// For TF32: half as many products at once.
constexpr TensorSum tf32_sum(int arch) { return {tensor_sum(arch).depth / 2, tensor_sum(arch).fraction_bits}; }

}  // namespace attnscope::emulator
