#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "check/inputs.h"
#include "core/kernel.h"
#include "core/result.h"

namespace attnscope::check {

using attnscope::Accumulate;

// Above this much work, only sampled rows are computed. Above this size, not all rows are kept.
inline constexpr double kAllRowsFlops = 2e9;          // 4·B·H·Sq·Sk·D including masked keys: the work of all rows
inline constexpr int64_t kAllRowsElements = 1 << 24;  // of the output: 128 MiB of fp64

// How an element of an fp32 naive attention comes out. A correct output has NaN and Inf in exactly these places.
enum class ElementClass : uint8_t { finite = 0, nan = 1, plus_inf = 2, minus_inf = 3 };

// The fp64 attention of one problem, on all of its rows or on a sample of whole rows. Immutable.
struct Reference {
  Problem problem;
  Accumulate accumulate = Accumulate::f32;  // the naive attention's accumulation type, the one that the kernel declares
  bool all_rows = true;
  std::vector<int64_t> rows;          // (b·heads + h)·seq_q + i, ascending: the rows in `values`
  std::vector<double> values;         // rows × head_dim
  std::vector<ElementClass> classes;  // rows × head_dim; empty if every element is finite
  // ‖naive - values‖ / ‖values‖ over the rows where both are finite. The naive attention rounds S, P and O to dtype.
  double naive_rel_frobenius = 0;

  int64_t rows_total() const { return problem.batch * problem.heads * problem.seq_q; }
  // The index of a row in `rows`; -1 if it was not sampled.
  int64_t find_row(int64_t row) const;
  ElementClass class_of(int64_t index) const {
    return classes.empty() ? ElementClass::finite : classes[static_cast<size_t>(index)];
  }
};

struct ReferenceOptions {
  int threads = 0;                            // 0: one per core; they inherit the caller's scheduling priority
  const std::atomic<bool>* cancel = nullptr;  // checked every few rows; when set, the result is Stage::cancelled
};

// The rows of the reference. All rows up to kAllRowsFlops and kAllRowsElements. Above that, in every head: the first
// row, the last, the rows on either side of tile edges, and random ones; at least 256 in all and 4 per head. They
// depend only on the problem.
std::vector<int64_t> reference_rows(const Problem& problem);

// A reference of these rows with all values 0, to be filled in.
std::shared_ptr<Reference> blank_reference(const Problem& problem, Accumulate accumulate, std::vector<int64_t> rows);
// Failure (Stage::check): the values do not fit into memory.
Failure no_memory_for_reference(const Problem& problem);

// Failure (Stage::check) for a problem that is not attention, or whose keys do not fit into memory as fp64.
Result<std::shared_ptr<const Reference>> make_reference(const Problem& problem, const AttentionInputs& inputs,
                                                        Accumulate accumulate, const ReferenceOptions& options = {});

// Single rows of the naive attention, for tests and to explain an element: fp32, in the simplest order, with S, P and O
// rounded to dtype if `rounded`. `out` has head_dim elements.
void naive_row(const Problem& problem, const AttentionInputs& inputs, int64_t row, Accumulate accumulate, bool rounded,
               std::span<float> out);

}  // namespace attnscope::check
