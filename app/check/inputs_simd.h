#pragma once
#include <cstddef>
#include <cstdint>

#include "core/problem.h"

namespace attnscope::check {

inline constexpr int64_t kElementsPerBlock = 4;  // elements per Philox output

// The values of `blocks` blocks of a stream from block `first` on, before rounding to a dtype: 4·blocks floats.
void generate_blocks(Distribution distribution, uint64_t seed, uint32_t stream, uint64_t first, size_t blocks,
                     float* out);

// Rounds `count` floats to f16 or bf16.
void encode_16(DType dtype, const float* in, size_t count, uint16_t* out);
// Converts `count` numbers of f16 or bf16 to floats.
void decode_16(DType dtype, const uint16_t* in, size_t count, float* out);

}  // namespace attnscope::check
