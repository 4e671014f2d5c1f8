#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "check/reference.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::check {

struct Tolerance {
  double atol = 1e-3, rtol = 1e-3;
};
// 1e-3; 8e-3 for bf16, whose unit roundoff is eight times fp16's; 1e-2 for fp16 accumulation.
Tolerance tolerance_of(Accumulate accumulate, DType dtype);

// max(2 × naive, 2^-11): a kernel may be twice as far off as the simplest attention, and always by half an fp16 ulp.
double rel_frobenius_limit(double naive_rel_frobenius);

struct JudgeOptions {
  // The kernel ran only a share of its CTAs: rows that are all poison were not computed and are left out.
  bool partial = false;
};

// Why an element is refused, most serious first.
enum class Fault { never_written, non_finite, masked_row, outside, none };
inline constexpr auto kFaults = static_cast<size_t>(Fault::none);

// The basis of a verdict: an output compared with the reference, element by element, and the elements that were never
// written, including those in rows without a reference.
struct Comparison {
  int64_t rows = 0, elements = 0, compared = 0, outside = 0, nonfinite = 0;
  std::array<int64_t, kFaults> faults{};    // number of elements by Fault
  std::array<BadElement, kFaults> first{};  // the first element of each Fault
  double max_abs = 0;
  // Sums over the compared elements: |error|, its square, the squares of both sides, and their products.
  double sum_abs = 0, sum_sq_error = 0, sum_sq_reference = 0, sum_sq_output = 0, sum_products = 0;
  BadElement worst;  // the element with max_abs
  int64_t unwritten = 0;
  BadElement first_unwritten;  // its `expected` is NaN if the row has no reference
};
Comparison compare(std::span<const std::byte> output, const Reference& reference, bool partial);
// Element `index` of the reference's rows, with the output's value there.
BadElement element_of(std::span<const std::byte> output, const Reference& reference, int64_t index);
// An output element that was never written. `index` counts as in [batch, heads, seq_q, head_dim] for any layout.
BadElement unwritten_element(const Reference& reference, int64_t index);
Verdict conclude(const Comparison& comparison, const Reference& reference);

// Compares a kernel's output, [batch, heads, seq_q, head_dim] in the problem's layout and dtype, with the reference.
// Correct means all of:
//   every element was written (no poison left, sampled row or not);
//   NaN, +Inf and -Inf are exactly where an fp32 naive attention has them;
//   a fully masked row is 0;
//   no element is outside atol + rtol·|reference|;
//   ‖output - reference‖ / ‖reference‖ ≤ rel_frobenius_limit.
// The figures cover the reference's rows, and elements that are finite on both sides; docs/measuring.md defines them.
// Failure (Stage::internal) if the size of `output` is not the problem's.
Result<Verdict> judge(std::span<const std::byte> output, const Reference& reference, const JudgeOptions& options = {});

// The verdict for a problem without a reference, or whose reference failed: "unchecked" with the reason.
Verdict unchecked(std::string reason);

}  // namespace attnscope::check
