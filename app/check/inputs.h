#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/result.h"

namespace attnscope::check {

// The random number streams of a problem's seed. A kernel's other buffers use streams from 16 on.
enum class Tensor : uint32_t { q = 0, k = 1, v = 2, sampled_rows = 15 };

// The offset of element (b, h, s, d) in a tensor of `heads` heads and `seq` rows, in elements.
int64_t element_offset(const Problem& problem, int64_t heads, int64_t seq, int64_t b, int64_t h, int64_t s, int64_t d);

// One element of an input, rounded to the problem's dtype. `index` is ((b·heads + h)·seq + s)·head_dim + d for any
// layout, so that both layouts hold the same tensor. The bits are the same on every machine; see docs/measuring.md.
//   normal    standard normal, by Box-Muller over 24-bit uniforms (so |x| ≤ 5.77)
//   uniform   [-1, 1), multiples of 2^-23 before rounding
//   large     eight times normal: scores of ±200, where exp without the row maximum overflows
//   constant  0.1: with this input a broken check still passes
float input_element(const Problem& problem, Tensor tensor, int64_t index);

// A whole input in the problem's layout and dtype. `out` must have exactly the tensor's bytes.
void fill_input(const Problem& problem, Tensor tensor, std::span<std::byte> out);

struct AttentionInputs {
  std::vector<std::byte> q, k, v;  // [batch, heads | kv_heads, seq_q | seq_k, head_dim] in the problem's layout
};

// Failure (Stage::check) if they do not fit into memory.
Result<AttentionInputs> make_inputs(const Problem& problem);

}  // namespace attnscope::check
