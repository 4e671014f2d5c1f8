#include "check/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "check/float_formats.h"
#include "check/inputs_simd.h"
#include "core/hash.h"

namespace attnscope::check {
namespace {

constexpr size_t kChunkBlocks = 1024;  // 16 KB of floats: stays in the first-level cache between making and rounding

struct Shape {
  int64_t heads, seq;
};

Shape shape_of(const Problem& problem, Tensor tensor) {
  return tensor == Tensor::q ? Shape{problem.heads, problem.seq_q} : Shape{problem.kv_heads, problem.seq_k};
}

// Elements [first, first + count) of the stream, rounded and stored one after another.
void fill_run(const Problem& problem, Tensor tensor, int64_t first, int64_t count, std::byte* out) {
  alignas(64) std::array<float, kElementsPerBlock * kChunkBlocks> values;
  alignas(64) std::array<uint16_t, kElementsPerBlock * kChunkBlocks> halves;
  while (count > 0) {
    const int64_t skip = first % kElementsPerBlock;
    const int64_t take = std::min(count, static_cast<int64_t>(values.size()) - skip);
    const auto blocks = static_cast<size_t>((skip + take + kElementsPerBlock - 1) / kElementsPerBlock);
    generate_blocks(problem.distribution, problem.seed, static_cast<uint32_t>(tensor),
                    static_cast<uint64_t>(first / kElementsPerBlock), blocks, values.data());
    const auto bytes = static_cast<size_t>(take) * bytes_of(problem.dtype);
    if (problem.dtype == DType::f32) {
      std::memcpy(out, values.data() + skip, bytes);
    } else {
      encode_16(problem.dtype, values.data() + skip, static_cast<size_t>(take), halves.data());
      std::memcpy(out, halves.data(), bytes);
    }
    out += bytes;
    first += take;
    count -= take;
  }
}

}  // namespace

int64_t element_offset(const Problem& problem, int64_t heads, int64_t seq, int64_t b, int64_t h, int64_t s, int64_t d) {
  const int64_t row = problem.layout == Layout::BHSD ? (b * heads + h) * seq + s : (b * seq + s) * heads + h;
  return row * problem.head_dim + d;
}

float input_element(const Problem& problem, Tensor tensor, int64_t index) {
  std::array<float, kElementsPerBlock> block;
  generate_blocks(problem.distribution, problem.seed, static_cast<uint32_t>(tensor),
                  static_cast<uint64_t>(index / kElementsPerBlock), 1, block.data());
  return round_to(problem.dtype, block[static_cast<size_t>(index % kElementsPerBlock)]);
}

void fill_input(const Problem& problem, Tensor tensor, std::span<std::byte> out) {
  const Shape shape = shape_of(problem, tensor);
  const int64_t row = problem.head_dim * bytes_of(problem.dtype);  // bytes
  if (problem.layout == Layout::BHSD) {
    fill_run(problem, tensor, 0, static_cast<int64_t>(out.size()) / bytes_of(problem.dtype), out.data());
    return;
  }
  // Made head by head, as the numbers run, then spread over the rows.
  std::vector<std::byte> head(static_cast<size_t>(shape.seq * row));
  for (int64_t b = 0; b < problem.batch; ++b) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      fill_run(problem, tensor, (b * shape.heads + h) * shape.seq * problem.head_dim, shape.seq * problem.head_dim,
               head.data());
      for (int64_t s = 0; s < shape.seq; ++s)
        std::memcpy(out.data() + ((b * shape.seq + s) * shape.heads + h) * row, head.data() + s * row,
                    static_cast<size_t>(row));
    }
  }
}

Result<AttentionInputs> make_inputs(const Problem& problem) {
  AttentionInputs inputs;
  const size_t q = static_cast<size_t>(problem.q_elements()) * bytes_of(problem.dtype);
  const size_t kv = static_cast<size_t>(problem.kv_elements()) * bytes_of(problem.dtype);
  try {
    inputs.q.resize(q);
    inputs.k.resize(kv);
    inputs.v.resize(kv);
  } catch (const std::bad_alloc&) {
    return fail(Stage::check,
                fmt::format("there is no memory for the inputs of {}: {} B", short_text(problem), q + 2 * kv),
                "Choose smaller sizes.");
  }
  fill_input(problem, Tensor::q, inputs.q);
  fill_input(problem, Tensor::k, inputs.k);
  fill_input(problem, Tensor::v, inputs.v);
  return inputs;
}

}  // namespace attnscope::check
