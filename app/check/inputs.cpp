#include "check/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <thread>

#include "check/float_formats.h"
#include "check/inputs_simd.h"
#include "check/parallel.h"
#include "core/hash.h"
#include "platform/memory.h"

namespace attnscope::check {
namespace {

constexpr size_t kBytesWorthThreads = 1 << 22;
constexpr size_t kChunkBlocks = 1024;  // 16 KB of floats, which stay in the first-level cache from making to rounding

struct Shape {
  int64_t heads, seq;
};

Shape shape_of(const Problem& problem, Tensor tensor) {
  return tensor == Tensor::q ? Shape{problem.heads, problem.seq_q} : Shape{problem.kv_heads, problem.seq_k};
}

// Rounds elements [first, first + count) of the stream and stores them consecutively.
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

// Fills one head of one batch.
void fill_head(const Problem& problem, Tensor tensor, int64_t unit, std::span<std::byte> out) {
  const Shape shape = shape_of(problem, tensor);
  const int64_t row = problem.head_dim * bytes_of(problem.dtype),
                elements = shape.seq * problem.head_dim;  // `row` is in bytes
  if (problem.layout == Layout::BHSD)
    return fill_run(problem, tensor, unit * elements, elements, out.data() + unit * shape.seq * row);
  // Generated in stream order, then spread over the rows.
  std::vector<std::byte> head(static_cast<size_t>(shape.seq * row));
  fill_run(problem, tensor, unit * elements, elements, head.data());
  const int64_t b = unit / shape.heads, h = unit % shape.heads;
  for (int64_t s = 0; s < shape.seq; ++s)
    std::memcpy(out.data() + ((b * shape.seq + s) * shape.heads + h) * row, head.data() + s * row,
                static_cast<size_t>(row));
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
  const int64_t heads = problem.batch * shape_of(problem, tensor).heads;
  for (int64_t unit = 0; unit < heads; ++unit) fill_head(problem, tensor, unit, out);
}

Result<AttentionInputs> make_inputs(const Problem& problem) {
  AttentionInputs inputs;
  const auto q = static_cast<size_t>(problem.q_elements()) * bytes_of(problem.dtype);
  const auto kv = static_cast<size_t>(problem.kv_elements()) * bytes_of(problem.dtype);
  if (auto held = platform::hold_memory(2 * q + 2 * kv, "the tensors of " + short_text(problem)); !held)
    return fail(held.error());
  struct Part {
    Tensor tensor;
    std::vector<std::byte>& bytes;
    size_t size;
    int64_t heads;
  };
  const Part parts[] = {{Tensor::q, inputs.q, q, problem.batch * problem.heads},
                        {Tensor::k, inputs.k, kv, problem.batch * problem.kv_heads},
                        {Tensor::v, inputs.v, kv, problem.batch * problem.kv_heads}};
  // Making a small input takes less time than starting a thread.
  const size_t threads = q + 2 * kv < kBytesWorthThreads ? 1 : std::max(1u, std::thread::hardware_concurrency());
  bool made =
      in_parallel(threads, std::size(parts), [&](size_t, size_t part) { parts[part].bytes.resize(parts[part].size); });
  for (const Part& part : parts)
    made = made && in_parallel(threads, static_cast<size_t>(part.heads), [&](size_t, size_t unit) {
             fill_head(problem, part.tensor, static_cast<int64_t>(unit), part.bytes);
           });
  if (!made)
    return fail(Stage::check,
                fmt::format("there is not enough memory for the inputs of {}: {} B", short_text(problem), q + 2 * kv),
                "Choose smaller sizes.");
  return inputs;
}

}  // namespace attnscope::check
