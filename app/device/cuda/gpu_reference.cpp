#include "device/cuda/gpu_reference.h"

#include <cmath>
#include <new>
#include <numeric>

namespace attnscope::device {
namespace {

using check::Reference;

// As declared in assets/gpu/reference.cu.
struct Shape {
  int64_t heads, group;
  int64_t seq_q, seq_k;
  int64_t q_batch, q_head, q_row;
  int64_t k_batch, k_head, k_row;
  int64_t masked, first_visible;
  int64_t row_count;
  double scale;
};

// The kernel's parameters as it declares them: nine pointers and the shape.
struct Parameters {
  uint64_t q, k, v, rows, scratch, values, classes, errors, nonfinite;
  Shape shape;
};

Shape shape_of(const Problem& p, int64_t row_count) {
  const bool rows_inside = p.layout == Layout::BHSD;  // [batch, head, row, d], otherwise [batch, row, head, d]
  const int64_t dim = p.head_dim;
  Shape shape{};
  shape.heads = p.heads;
  shape.group = p.heads / p.kv_heads;
  shape.seq_q = p.seq_q;
  shape.seq_k = p.seq_k;
  shape.q_batch = p.heads * p.seq_q * dim;
  shape.q_head = rows_inside ? p.seq_q * dim : dim;
  shape.q_row = rows_inside ? dim : p.heads * dim;
  shape.k_batch = p.kv_heads * p.seq_k * dim;
  shape.k_head = rows_inside ? p.seq_k * dim : dim;
  shape.k_row = rows_inside ? dim : p.kv_heads * dim;
  shape.masked = p.causal != Causal::none;
  shape.first_visible = first_visible(p);
  shape.row_count = row_count;
  shape.scale = p.effective_scale();
  return shape;
}

template <class T>
std::span<const std::byte> bytes_of_vector(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

// What the kernel reads and writes besides the tensors.
struct Buffers {
  GpuMemory rows, scratch, values, classes, errors, nonfinite;

  Result<void> make(const std::shared_ptr<Gpu>& gpu, const Reference& reference, size_t ctas) {
    const size_t elements = reference.values.size(), count = reference.rows.size();
    const std::pair<GpuMemory*, size_t> empty[] = {
        {&scratch, ctas * static_cast<size_t>(reference.problem.seq_k) * 2 * sizeof(double)},
        {&values, elements * sizeof(double)},
        {&classes, elements},
        {&errors, count * 2 * sizeof(double)}};
    for (const auto& [memory, bytes] : empty) {
      auto made = GpuMemory::make(gpu, bytes);
      if (!made) return fail(made.error());
      *memory = std::move(*made);
    }
    const std::vector<uint64_t> none{0};
    const std::pair<GpuMemory*, std::span<const std::byte>> given[] = {{&rows, bytes_of_vector(reference.rows)},
                                                                       {&nonfinite, bytes_of_vector(none)}};
    for (const auto& [memory, contents] : given) {
      auto made = GpuMemory::make(gpu, contents);
      if (!made) return fail(made.error());
      *memory = std::move(*made);
    }
    return {};
  }
};

// Copies the results into `reference`.
Result<void> fetch(const Buffers& buffers, Reference& reference) {
  if (auto done = buffers.values.download(std::as_writable_bytes(std::span(reference.values))); !done) return done;
  std::vector<double> errors(2 * reference.rows.size());
  if (auto done = buffers.errors.download(std::as_writable_bytes(std::span(errors))); !done) return done;
  double difference = 0, norm = 0;
  for (size_t row = 0; row < reference.rows.size(); ++row) {
    if (!std::isfinite(errors[2 * row])) continue;
    difference += errors[2 * row];
    norm += errors[2 * row + 1];
  }
  reference.naive_rel_frobenius = norm > 0 ? std::sqrt(difference / norm) : 0;
  uint64_t nonfinite = 0;
  if (auto done = buffers.nonfinite.download(std::as_writable_bytes(std::span(&nonfinite, 1))); !done) return done;
  if (nonfinite == 0) return {};
  static_assert(sizeof(check::ElementClass) == 1);
  reference.classes.resize(reference.values.size());
  return buffers.classes.download(std::as_writable_bytes(std::span(reference.classes)));
}

std::vector<int64_t> rows_of(const Problem& problem) {
  if (problem.q_elements() > kGpuReferenceElements) return check::reference_rows(problem);
  std::vector<int64_t> rows(static_cast<size_t>(problem.batch * problem.heads * problem.seq_q));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

// Computes the reference's values and returns the buffers that hold them on the GPU.
Result<Buffers> compute(const std::shared_ptr<Gpu>& gpu, const GpuKernel& kernel, int64_t sms,
                        std::span<const uint64_t> inputs, Reference& reference) {
  constexpr int64_t threads = 192, ctas_an_sm = 8;
  const auto row_count = static_cast<int64_t>(reference.rows.size());
  const int64_t ctas = std::min(sms * ctas_an_sm, row_count);
  Buffers buffers;
  if (auto done = buffers.make(gpu, reference, static_cast<size_t>(ctas)); !done) return fail(done.error());
  const Parameters block{inputs[0],
                         inputs[1],
                         inputs[2],
                         buffers.rows.at(),
                         buffers.scratch.at(),
                         buffers.values.at(),
                         buffers.classes.at(),
                         buffers.errors.at(),
                         buffers.nonfinite.at(),
                         shape_of(reference.problem, row_count)};
  if (auto done = run_own_kernel(*gpu, kernel, ctas, threads, std::as_bytes(std::span(&block, 1))); !done)
    return fail(done.error());
  if (auto done = fetch(buffers, reference); !done) return fail(done.error());
  return buffers;
}

}  // namespace

Result<GpuReference> GpuReference::upload(const std::shared_ptr<Gpu>& gpu, std::shared_ptr<const Reference> reference) {
  GpuReference held;
  const std::pair<GpuMemory*, std::span<const std::byte>> given[] = {
      {&held.rows, bytes_of_vector(reference->rows)},
      {&held.values, bytes_of_vector(reference->values)},
      {&held.classes, bytes_of_vector(reference->classes)}};
  for (const auto& [memory, contents] : given) {
    if (contents.empty()) continue;
    auto made = GpuMemory::make(gpu, contents);
    if (!made) return fail(made.error());
    *memory = std::move(*made);
  }
  held.reference = std::move(reference);
  return held;
}

Result<GpuReference> make_gpu_reference(OwnKernels& kernels, int64_t sms, const Problem& problem,
                                        std::span<const uint64_t> inputs, check::Accumulate accumulate) {
  if (problem.kind != ProblemKind::attention)
    return fail(Stage::check, "there is no reference for a problem of kind " + std::string(to_string(problem.kind)),
                "Its verdict is unchecked.");
  auto kernel = kernels.load_for("reference", problem, accumulate);
  if (!kernel) return fail(kernel.error());
  try {
    auto reference = check::blank_reference(problem, accumulate, rows_of(problem));
    auto buffers = compute(kernels.gpu(), **kernel, sms, inputs, *reference);
    if (!buffers) return fail(buffers.error());
    GpuReference held{reference, std::move(buffers->rows), std::move(buffers->values), {}};
    if (!reference->classes.empty()) held.classes = std::move(buffers->classes);
    return held;
  } catch (const std::bad_alloc&) {
    return fail(check::no_memory_for_reference(problem));
  }
}

}  // namespace attnscope::device
