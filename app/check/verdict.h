#pragma once
#include <cstddef>
#include <span>

#include "check/reference.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::check {

struct Tolerance {
  double atol = 1e-3, rtol = 1e-3;
};
Tolerance tolerance_of(Accumulate accumulate);  // 1e-3, or 1e-2 for fp16 accumulation

// max(2 × naive, 2^-11): a kernel may round twice as badly as the plainest attention does, and half an fp16 ulp always.
double rel_frobenius_limit(double naive_rel_frobenius);

struct JudgeOptions {
  // The kernel ran on a share of its CTAs: rows that are wholly poison were not asked for and are left out.
  bool partial = false;
};

// Holds a kernel's output, [batch, heads, seq_q, head_dim] in the problem's layout and dtype, against the reference.
// Correct means all of:
//   every element was written (no poison left, sampled row or not);
//   NaN, +Inf and -Inf stand exactly where an fp32 naive attention has them;
//   a fully masked row is 0;
//   no element is outside atol + rtol·|reference|;
//   ‖output - reference‖ / ‖reference‖ ≤ rel_frobenius_limit.
// The figures are over the reference's rows, over elements finite on both sides; each is defined in docs/measuring.md.
// Failure (Stage::internal) when `output` has another size than the problem's.
Result<Verdict> judge(std::span<const std::byte> output, const Reference& reference, const JudgeOptions& options = {});

// For a problem without a reference (or whose reference failed): state "unchecked" with the reason.
Verdict unchecked(std::string reason);

}  // namespace attnscope::check
