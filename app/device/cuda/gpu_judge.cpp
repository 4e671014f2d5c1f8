#include "device/cuda/gpu_judge.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "check/guarded_buffer.h"

namespace attnscope::device {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// As declared in assets/gpu/judge.cu.
struct Shape {
  int64_t heads, seq_q, dim;
  int64_t o_batch, o_head, o_row;
  int64_t seq_k, masked, first_visible;
  int64_t row_count, rows_total;
  double atol, rtol;
  uint32_t poison, padding = 0;
};
struct Parameters {
  uint64_t output, rows, values, classes, parts;
  Shape shape;
};
struct Part {
  int64_t elements, compared, outside, nonfinite, unwritten;
  int64_t faults[check::kFaults], first[check::kFaults];
  int64_t first_unwritten, worst;
  double max_abs, sum_abs, difference, reference, output, product;
};

Shape shape_of(const check::Reference& reference) {
  const Problem& p = reference.problem;
  const bool rows_inside = p.layout == Layout::BHSD;  // [batch, head, row, d], otherwise [batch, row, head, d]
  const check::Tolerance tolerance = check::tolerance_of(reference.accumulate, p.dtype);
  Shape shape{};
  shape.heads = p.heads;
  shape.seq_q = p.seq_q;
  shape.dim = p.head_dim;
  shape.o_batch = p.heads * p.seq_q * p.head_dim;
  shape.o_head = rows_inside ? p.seq_q * p.head_dim : p.head_dim;
  shape.o_row = rows_inside ? p.head_dim : p.heads * p.head_dim;
  shape.seq_k = p.seq_k;
  shape.masked = p.causal != Causal::none;
  shape.first_visible = first_visible(p);
  shape.row_count = static_cast<int64_t>(reference.rows.size());
  shape.rows_total = reference.rows_total();
  shape.atol = tolerance.atol;
  shape.rtol = tolerance.rtol;
  shape.poison = check::poison_word(p.dtype);
  return shape;
}

// Adds the CTAs' partial results in order.
check::Comparison comparison_of(const std::vector<Part>& parts, std::span<const std::byte> output,
                                const check::Reference& reference) {
  check::Comparison sum;
  sum.rows = static_cast<int64_t>(reference.rows.size());
  std::array<int64_t, check::kFaults> first;
  first.fill(kNone);
  int64_t first_unwritten = kNone, worst = kNone;
  for (const Part& part : parts) {
    const bool worse = part.worst != kNone && (worst == kNone || part.max_abs > sum.max_abs ||
                                               (part.max_abs == sum.max_abs && part.worst < worst));
    if (worse) {
      worst = part.worst;
      sum.max_abs = part.max_abs;
    }
    sum.elements += part.elements;
    sum.compared += part.compared;
    sum.outside += part.outside;
    sum.nonfinite += part.nonfinite;
    sum.unwritten += part.unwritten;
    for (size_t fault = 0; fault < check::kFaults; ++fault) {
      sum.faults[fault] += part.faults[fault];
      first[fault] = std::min(first[fault], part.first[fault]);
    }
    first_unwritten = std::min(first_unwritten, part.first_unwritten);
    sum.sum_abs += part.sum_abs;
    sum.sum_sq_error += part.difference;
    sum.sum_sq_reference += part.reference;
    sum.sum_sq_output += part.output;
    sum.sum_products += part.product;
  }
  for (size_t fault = 0; fault < check::kFaults; ++fault)
    if (sum.faults[fault] > 0) sum.first[fault] = check::element_of(output, reference, first[fault]);
  if (worst != kNone) sum.worst = check::element_of(output, reference, worst);
  if (sum.unwritten > 0) sum.first_unwritten = check::unwritten_element(reference, first_unwritten);
  return sum;
}

}  // namespace

Result<check::Comparison> compare_on_gpu(OwnKernels& kernels, int64_t sms, cuda_api::DevicePointer output_at,
                                         std::span<const std::byte> output, const GpuReference& reference) {
  constexpr int64_t threads = 128, ctas_an_sm = 8;
  auto kernel = kernels.load("judge", reference.reference->problem.dtype);
  if (!kernel) return fail(kernel.error());
  const int64_t elements = reference.reference->rows_total() * reference.reference->problem.head_dim;
  const int64_t ctas = std::clamp<int64_t>((elements + threads - 1) / threads, 1, sms * ctas_an_sm);
  std::vector<Part> parts(static_cast<size_t>(ctas));
  auto memory = GpuMemory::make(kernels.gpu(), parts.size() * sizeof(Part));
  if (!memory) return fail(memory.error());
  const Parameters block{output_at,    reference.rows.at(),           reference.values.at(), reference.classes.at(),
                         memory->at(), shape_of(*reference.reference)};
  if (auto done = run_own_kernel(*kernels.gpu(), **kernel, ctas, threads, std::as_bytes(std::span(&block, 1))); !done)
    return fail(done.error());
  if (auto done = memory->download(std::as_writable_bytes(std::span(parts))); !done) return fail(done.error());
  return comparison_of(parts, output, *reference.reference);
}

}  // namespace attnscope::device
