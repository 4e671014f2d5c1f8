#include "check/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <thread>

#include "check/attention_simd.h"
#include "check/float_formats.h"
#include "check/inputs_simd.h"
#include "check/parallel.h"
#include "check/philox.h"

namespace attnscope::check {
namespace {

constexpr int64_t kMaxHeadElements = int64_t{1} << 25;  // of one key head: 256 MB decoded
// Rows that go over a head's keys together, with their scores kept.
constexpr int64_t kRowsTogether = 32;
constexpr int64_t kMaxScores = int64_t{1} << 20;  // scores of those rows: 12 MB
constexpr int64_t kMinRandomRows = 256;
constexpr int64_t kMinRandomRowsPerHead = 4;
constexpr int64_t kTileEdges[] = {16, 32, 48, 64, 128};

// A range of `rows` for one thread; all belong to query heads that share one key head.
struct Item {
  int64_t batch = 0, kv_head = 0;
  size_t begin = 0, end = 0;  // indices into Reference::rows
};

struct RowClasses {
  size_t row;  // index into Reference::rows
  std::vector<ElementClass> classes;
};

// One thread's own memory. Allocated before the threads start, so that running out of memory is noticed in the caller's
// thread.
struct Workspace {
  DecodedHead head;
  int64_t decoded_batch = -1, decoded_kv_head = -1;
  QueryRows rows;
  Scratch scratch;
  std::vector<float> block;  // [kKeyBlock][head_dim]: keys before transposition
  std::vector<float> row;    // head_dim
  std::vector<RowClasses> classes;
};

struct Job {
  const Problem& problem;
  const AttentionInputs& inputs;
  Reference& reference;
  const std::atomic<bool>* cancel;
  std::vector<Item> items;
  // Squares per row, summed in row order so that the figure does not depend on the threads.
  std::vector<double> difference, norm;
};

ElementClass class_of_value(float value) {
  if (std::isnan(value)) return ElementClass::nan;
  if (std::isinf(value)) return value > 0 ? ElementClass::plus_inf : ElementClass::minus_inf;
  return ElementClass::finite;
}

double largest_finite(DType dtype) { return dtype == DType::f16 ? 65504.0 : 3.3895e38; }

void prepare(Workspace& space, const Problem& p) {
  space.head.resize(p.seq_k, p.head_dim);
  const int64_t keys = space.head.padded_keys, fit = kMaxScores / keys / kRowTile * kRowTile;
  space.rows.resize(std::clamp(fit, kRowTile, kRowsTogether), p.head_dim);
  space.block.resize(static_cast<size_t>(kKeyBlock * p.head_dim));
  space.row.resize(static_cast<size_t>(p.head_dim));
}

// Reads `count` elements of a tensor's bytes, starting at element `at`.
void decode_run(DType dtype, const std::vector<std::byte>& tensor, int64_t at, int64_t count, float* out) {
  if (dtype == DType::f32) {
    std::memcpy(out, tensor.data() + 4 * at, static_cast<size_t>(4 * count));
  } else {
    decode_16(dtype, reinterpret_cast<const uint16_t*>(tensor.data()) + at, static_cast<size_t>(count), out);
  }
}

// Decodes K and V of one key head. The padding is zero and is never written.
void decode(Workspace& space, const Job& job, int64_t b, int64_t kv_head) {
  if (space.decoded_batch == b && space.decoded_kv_head == kv_head) return;
  const Problem& p = job.problem;
  DecodedHead& head = space.head;
  const auto safe = static_cast<float>(0.99 * largest_finite(p.dtype));
  head.v_safe = true;
  for (int64_t first = 0; first < p.seq_k; first += kKeyBlock) {
    const int64_t count = std::min(kKeyBlock, p.seq_k - first);
    for (int64_t s = first; s < first + count; ++s) {
      const int64_t at = element_offset(p, p.kv_heads, p.seq_k, b, kv_head, s, 0);
      decode_run(p.dtype, job.inputs.k, at, p.head_dim, space.block.data() + (s - first) * p.head_dim);
      float* const v = head.v.data() + s * head.padded_dim;
      decode_run(p.dtype, job.inputs.v, at, p.head_dim, v);
      for (int64_t d = 0; d < p.head_dim; ++d) head.v_safe &= std::abs(v[d]) <= safe;
    }
    head.put_keys(first / kKeyBlock, count, space.block.data());
  }
  space.decoded_batch = b;
  space.decoded_kv_head = kv_head;
}

void load_rows(Workspace& space, const Job& job, size_t begin, size_t count) {
  const Problem& p = job.problem;
  for (size_t r = 0; r < space.rows.visible.size(); ++r) {
    float* const q = space.rows.q.data() + r * static_cast<size_t>(p.head_dim);
    space.rows.visible[r] = 0;
    if (r >= count) {
      std::fill_n(q, p.head_dim, 0.0f);
      continue;
    }
    const int64_t row = job.reference.rows[begin + r];
    const int64_t i = row % p.seq_q, h = row / p.seq_q % p.heads, b = row / p.seq_q / p.heads;
    decode_run(p.dtype, job.inputs.q, element_offset(p, p.heads, p.seq_q, b, h, i, 0), p.head_dim, q);
    space.rows.visible[r] = visible_keys(p, i);
  }
}

// Stores row `index` of the reference from the results in row `at`: fp64 values, its share of the naive error, and any
// non-finite element.
void store_row(Workspace& space, Job& job, size_t at, size_t index) {
  const Problem& p = job.problem;
  const auto dim = static_cast<size_t>(p.head_dim), padded = static_cast<size_t>(space.head.padded_dim);
  const double* exact = space.scratch.out.data() + at * padded;
  const float* naive = space.scratch.naive_out.data() + at * padded;
  std::copy_n(exact, dim, job.reference.values.begin() + static_cast<ptrdiff_t>(index * dim));
  double difference = 0, norm = 0;
  for (size_t d = 0; d < dim; ++d) {
    const double error = static_cast<double>(naive[d]) - exact[d];
    difference += error * error;
    norm += exact[d] * exact[d];
  }
  if (std::isfinite(difference)) {
    job.difference[index] = difference;
    job.norm[index] = norm;
  }
  const bool masked = space.rows.visible[at] == 0;
  if (masked || (space.scratch.naive_scores_finite[at] && space.head.v_safe)) return;
  // Rare. The simple fp32 attention decides which elements are NaN or Inf.
  naive_row(p, job.inputs, job.reference.rows[index], Accumulate::f32, false, space.row);
  RowClasses found{index, std::vector<ElementClass>(dim)};
  bool any = false;
  for (size_t d = 0; d < dim; ++d) {
    found.classes[d] = class_of_value(round_to(p.dtype, space.row[d]));
    any = any || found.classes[d] != ElementClass::finite;
  }
  if (any) space.classes.push_back(std::move(found));
}

void make_rows(Workspace& space, Job& job, const Item& item) {
  const Problem& p = job.problem;
  const double scale = p.effective_scale();
  const auto together = static_cast<size_t>(space.rows.rows());
  for (size_t begin = item.begin; begin < item.end; begin += together) {
    if (job.cancel && job.cancel->load(std::memory_order_relaxed)) return;
    decode(space, job, item.batch, item.kv_head);
    const size_t count = std::min(item.end - begin, together);
    load_rows(space, job, begin, count);
    attend_exact(space.head, space.rows, scale, space.scratch);
    attend_naive(space.head, space.rows, static_cast<float>(scale), p.dtype, job.reference.accumulate, space.scratch);
    for (size_t r = 0; r < count; ++r) store_row(space, job, r, begin + r);
  }
}

// Splits the rows by key head, and the rows of each key head so that every thread gets several items.
std::vector<Item> split(const Problem& p, const std::vector<int64_t>& rows, size_t threads) {
  const int64_t group = p.heads / p.kv_heads;  // query heads of one key head are adjacent in `rows`
  const auto units = static_cast<size_t>(p.batch * p.kv_heads);
  const size_t parts = units >= 2 * threads ? 1 : (4 * threads + units - 1) / units;
  std::vector<Item> items;
  size_t begin = 0;
  while (begin < rows.size()) {
    const int64_t unit = rows[begin] / (p.seq_q * group);
    const int64_t last_row = (unit + 1) * p.seq_q * group;
    const auto end = static_cast<size_t>(
        std::lower_bound(rows.begin() + static_cast<ptrdiff_t>(begin), rows.end(), last_row) - rows.begin());
    const size_t step = std::max<size_t>(32, (end - begin + parts - 1) / parts);
    for (size_t at = begin; at < end; at += step)
      items.push_back({unit / p.kv_heads, unit % p.kv_heads, at, std::min(end, at + step)});
    begin = end;
  }
  return items;
}

void finish(Job& job, const std::vector<Workspace>& spaces) {
  const auto dim = static_cast<size_t>(job.problem.head_dim);
  double difference = 0, norm = 0;
  for (size_t row = 0; row < job.reference.rows.size(); ++row) {
    difference += job.difference[row];
    norm += job.norm[row];
  }
  job.reference.naive_rel_frobenius = norm > 0 ? std::sqrt(difference / norm) : 0;
  for (const Workspace& space : spaces) {
    for (const RowClasses& found : space.classes) {
      job.reference.classes.resize(job.reference.rows.size() * dim, ElementClass::finite);
      std::copy(found.classes.begin(), found.classes.end(),
                job.reference.classes.begin() + static_cast<ptrdiff_t>(found.row * dim));
    }
  }
}

Result<void> acceptable(const Problem& p, const AttentionInputs& inputs) {
  if (p.kind != ProblemKind::attention)
    return fail(Stage::check, fmt::format("there is no reference for a problem of kind {}", to_string(p.kind)),
                "Its verdict is unchecked.");
  if (p.seq_k * p.head_dim > kMaxHeadElements)
    return fail(
        Stage::check,
        fmt::format("seq_k {} at head_dim {} is too long for the fp64 reference: a key head may have {} elements",
                    p.seq_k, p.head_dim, kMaxHeadElements),
        "Check at a shorter seq_k.");
  const auto q = static_cast<size_t>(p.q_elements()) * bytes_of(p.dtype);
  const auto kv = static_cast<size_t>(p.kv_elements()) * bytes_of(p.dtype);
  if (inputs.q.size() != q || inputs.k.size() != kv || inputs.v.size() != kv)
    return fail(Stage::internal, "the sizes of the inputs are not the problem's", "Report this with the problem.");
  return {};
}

}  // namespace

int64_t Reference::find_row(int64_t row) const {
  if (all_rows) return row >= 0 && row < static_cast<int64_t>(rows.size()) ? row : -1;
  const auto found = std::lower_bound(rows.begin(), rows.end(), row);
  return found != rows.end() && *found == row ? found - rows.begin() : -1;
}

std::vector<int64_t> reference_rows(const Problem& p) {
  const int64_t heads = p.batch * p.heads, total = heads * p.seq_q;
  std::vector<int64_t> rows;
  const double flops = 4.0 * double(p.q_elements()) * double(p.seq_k);
  if (flops <= kAllRowsFlops && p.q_elements() <= kAllRowsElements) {
    rows.resize(static_cast<size_t>(total));
    for (int64_t row = 0; row < total; ++row) rows[static_cast<size_t>(row)] = row;
    return rows;
  }
  const int64_t random = std::max(kMinRandomRowsPerHead, (kMinRandomRows + heads - 1) / heads);
  for (int64_t head = 0; head < heads; ++head) {
    std::vector<int64_t> picked{0, p.seq_q - 1};
    for (int64_t edge : kTileEdges) {
      const int64_t last_tile = (p.seq_q - 1) / edge * edge;  // the first row of the ragged tile
      for (int64_t i : {edge - 1, edge, last_tile - 1, last_tile})
        if (i >= 0 && i < p.seq_q) picked.push_back(i);
    }
    for (int64_t n = 0; n < random; ++n) {
      const auto words =
          philox_block(p.seed, static_cast<uint32_t>(Tensor::sampled_rows), static_cast<uint64_t>(head * random + n));
      const uint64_t wide = uint64_t{words[0]} << 32 | words[1];
      picked.push_back(static_cast<int64_t>(wide % static_cast<uint64_t>(p.seq_q)));
    }
    std::sort(picked.begin(), picked.end());
    picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
    for (int64_t i : picked) rows.push_back(head * p.seq_q + i);
  }
  return rows;
}

std::shared_ptr<Reference> blank_reference(const Problem& problem, Accumulate accumulate, std::vector<int64_t> rows) {
  auto reference = std::make_shared<Reference>();
  reference->problem = problem;
  reference->accumulate = accumulate;
  reference->rows = std::move(rows);
  reference->all_rows = static_cast<int64_t>(reference->rows.size()) == reference->rows_total();
  reference->values.resize(reference->rows.size() * static_cast<size_t>(problem.head_dim));
  return reference;
}

Failure no_memory_for_reference(const Problem& problem) {
  return {Stage::check, "there is not enough memory for the fp64 reference of " + short_text(problem),
          "Check at a smaller size."};
}

Result<std::shared_ptr<const Reference>> make_reference(const Problem& problem, const AttentionInputs& inputs,
                                                        Accumulate accumulate, const ReferenceOptions& options) {
  if (auto fits = acceptable(problem, inputs); !fits) return fail(fits.error());
  try {
    auto reference = blank_reference(problem, accumulate, reference_rows(problem));
    size_t threads = options.threads > 0 ? static_cast<size_t>(options.threads)
                                         : std::max<size_t>(1, std::thread::hardware_concurrency());
    // A decoded key head takes 8 B per element for each thread. The limit keeps them together under about 2 GB.
    const auto head_bytes = static_cast<size_t>(8 * problem.seq_k * problem.head_dim);
    threads = std::clamp<size_t>((size_t{2} << 30) / std::max<size_t>(1, head_bytes), 1, threads);
    Job job{problem, inputs, *reference, options.cancel, split(problem, reference->rows, threads), {}, {}};
    job.difference.resize(reference->rows.size());
    job.norm.resize(reference->rows.size());
    std::vector<Workspace> spaces(std::min(threads, std::max<size_t>(1, job.items.size())));
    for (Workspace& space : spaces) prepare(space, problem);
    const bool whole = in_parallel(spaces.size(), job.items.size(), [&](size_t thread, size_t item) {
      make_rows(spaces[thread], job, job.items[item]);
    });
    if (options.cancel && options.cancel->load()) return fail(Stage::cancelled, "the reference was cancelled");
    if (!whole) throw std::bad_alloc();
    finish(job, spaces);
    return reference;
  } catch (const std::bad_alloc&) {
    return fail(no_memory_for_reference(problem));
  }
}

void naive_row(const Problem& p, const AttentionInputs& inputs, int64_t row, Accumulate accumulate, bool rounded,
               std::span<float> out) {
  const int64_t i = row % p.seq_q, h = row / p.seq_q % p.heads, b = row / p.seq_q / p.heads;
  const int64_t kv_head = h / (p.heads / p.kv_heads), visible = visible_keys(p, i);
  const auto keep = [&](float value) { return rounded ? round_to(p.dtype, value) : value; };
  const auto add = [&](float sum, float a, float c) {
    const float next = std::fma(a, c, sum);
    return accumulate == Accumulate::f16 ? round_to(DType::f16, next) : next;
  };
  std::vector<float> scores(static_cast<size_t>(visible));
  const int64_t q_at = element_offset(p, p.heads, p.seq_q, b, h, i, 0);
  float highest = -std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < visible; ++j) {
    const int64_t k_at = element_offset(p, p.kv_heads, p.seq_k, b, kv_head, j, 0);
    float sum = 0;
    for (int64_t d = 0; d < p.head_dim; ++d)
      sum =
          add(sum, load_element(p.dtype, inputs.q.data(), q_at + d), load_element(p.dtype, inputs.k.data(), k_at + d));
    const float score = keep(sum * static_cast<float>(p.effective_scale()));
    scores[static_cast<size_t>(j)] = score;
    if (score > highest || std::isnan(score)) highest = score;
  }
  float total = 0;
  for (float& score : scores) total += score = std::exp(score - highest);
  for (float& score : scores) score = keep(score / total);
  for (int64_t d = 0; d < p.head_dim; ++d) {
    float sum = 0;
    for (int64_t j = 0; j < visible; ++j) {
      const int64_t v_at = element_offset(p, p.kv_heads, p.seq_k, b, kv_head, j, d);
      sum = add(sum, scores[static_cast<size_t>(j)], load_element(p.dtype, inputs.v.data(), v_at));
    }
    out[static_cast<size_t>(d)] = keep(sum);
  }
}

}  // namespace attnscope::check
