#include "device/cuda/gpu_reference.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <numeric>

namespace attnscope::device {
namespace {

using check::Reference;

// As assets/gpu/reference.cu declares it.
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
  const bool rows_inside = p.layout == Layout::BHSD;  // [batch, head, row, d], else [batch, row, head, d]
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
  shape.first_visible = p.causal == Causal::bottom_right ? p.seq_k - p.seq_q + 1 : 1;
  shape.row_count = row_count;
  shape.scale = p.effective_scale();
  return shape;
}

template <class T>
std::span<const std::byte> bytes_of_vector(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

// Everything that the kernel reads and writes, on the GPU.
struct Buffers {
  GpuMemory q, k, v, rows, scratch, values, classes, errors, nonfinite;

  Result<void> make(const std::shared_ptr<Gpu>& gpu, const check::AttentionInputs& inputs, const Reference& reference,
                    size_t ctas) {
    const size_t elements = reference.values.size(), count = reference.rows.size();
    const std::pair<GpuMemory*, std::span<const std::byte>> given[] = {
        {&q, inputs.q}, {&k, inputs.k}, {&v, inputs.v}, {&rows, bytes_of_vector(reference.rows)}};
    for (const auto& [memory, contents] : given) {
      auto made = GpuMemory::make(gpu, contents);
      if (!made) return fail(made.error());
      *memory = std::move(*made);
    }
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
    auto counter = GpuMemory::make(gpu, bytes_of_vector(std::vector<uint64_t>{0}));
    if (!counter) return fail(counter.error());
    nonfinite = std::move(*counter);
    return {};
  }
};

// Brings the results back into `reference`.
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

Result<void> compute(const std::shared_ptr<Gpu>& gpu, const GpuKernel& kernel, int64_t sms,
                     const check::AttentionInputs& inputs, Reference& reference) {
  constexpr int64_t threads = 192, ctas_an_sm = 8;
  const auto row_count = static_cast<int64_t>(reference.rows.size());
  const int64_t ctas = std::min(sms * ctas_an_sm, row_count);
  Buffers buffers;
  if (auto done = buffers.make(gpu, inputs, reference, static_cast<size_t>(ctas)); !done) return done;
  const Parameters block{buffers.q.at(),         buffers.k.at(),
                         buffers.v.at(),         buffers.rows.at(),
                         buffers.scratch.at(),   buffers.values.at(),
                         buffers.classes.at(),   buffers.errors.at(),
                         buffers.nonfinite.at(), shape_of(reference.problem, row_count)};
  if (kernel.info().parameter_bytes != sizeof block)
    return fail(Stage::internal, "the reference kernel declares other parameters than its caller passes",
                "Report this; assets/gpu/reference.cu may have been edited.");
  std::vector<std::byte> parameters(sizeof block);
  std::memcpy(parameters.data(), &block, sizeof block);
  if (const int code = kernel.launch({{ctas, 1, 1}, {threads, 1, 1}}, 0, parameters); code != 0)
    return gpu->kernel_failure(code, "the reference");
  if (const int code = gpu->wait(); code != 0) return gpu->kernel_failure(code, "the reference");
  return fetch(buffers, reference);
}

}  // namespace

Result<std::shared_ptr<const compile::Variant>> compile_own_kernel(compile::Compiler& compiler,
                                                                   const std::filesystem::path& folder,
                                                                   const std::string& name, const Problem& problem,
                                                                   check::Accumulate accumulate, int arch) {
  const std::filesystem::path file = folder / (name + ".cu");
  std::ifstream in(file);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  if (!in || source.empty())
    return fail(Stage::check, file.string() + " could not be read",
                "It ships with the program: see that its folder is whole, or set $ATTNSCOPE_RESOURCES.");
  compile::CompileRequest request;
  request.source = source;
  request.file_name = name + ".cu";
  request.entry = "attnscope_" + name;
  request.macros = {{"HEAD_DIM", problem.head_dim}, {"ACCUMULATE_F16", accumulate == check::Accumulate::f16}};
  request.dtype = problem.dtype;
  request.options.fast_math = false;
  request.arch = arch;
  return compiler.compile(request);
}

Result<std::shared_ptr<const Reference>> make_gpu_reference(const std::shared_ptr<Gpu>& gpu, const GpuKernel& kernel,
                                                            int64_t sms, const Problem& problem,
                                                            const check::AttentionInputs& inputs,
                                                            check::Accumulate accumulate) {
  if (problem.kind != ProblemKind::attention)
    return fail(Stage::check, "there is no reference for a problem of kind " + std::string(to_string(problem.kind)),
                "Its verdict is unchecked.");
  if (auto entered = gpu->enter(); !entered) return fail(entered.error());
  try {
    auto reference = std::make_shared<Reference>();
    reference->problem = problem;
    reference->accumulate = accumulate;
    reference->rows = rows_of(problem);
    reference->all_rows = static_cast<int64_t>(reference->rows.size()) == reference->rows_total();
    reference->values.resize(reference->rows.size() * static_cast<size_t>(problem.head_dim));
    if (auto done = compute(gpu, kernel, sms, inputs, *reference); !done) return fail(done.error());
    return reference;
  } catch (const std::bad_alloc&) {
    return fail(Stage::check, "there is not enough memory for the fp64 reference of " + short_text(problem),
                "Check at a smaller size.");
  }
}

}  // namespace attnscope::device
