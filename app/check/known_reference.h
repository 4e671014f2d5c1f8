#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/guarded_buffer.h"
#include "check/operands.h"
#include "core/observation.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::check {

// The values that the output of `spec` must have, in fp64 and row-major, computed from the operands as they were before
// the run. Shapes are those of the operands; rows are along the last axis. docs/writing-a-kernel.md has the
// definitions. Failure (Stage::catalog) for shapes that do not match.
Result<std::vector<double>> known_reference_values(const ReferenceSpec& spec, const Operands& operands);

// The default tolerance of a type, for both atol and rtol: exact for integers, f64 1e-10, f32 1e-4, f16 2e-3, bf16
// 1.6e-2.
double default_tolerance(ElementType type);

// The values that an output must have, row-major.
struct Expected {
  std::string output;
  std::vector<double> values;
  double atol = 0, rtol = 0;
  std::span<const std::byte> exact =
      {};  // the same values in the output's type, because a double does not hold every i64; empty: not known
};
// The index of the output with that name among the operands of role out and inout; empty if there is none.
std::optional<size_t> output_named(const Workload& workload, const std::string& name);

// Compares outputs with `expected`, as judge() does. `outputs` are the operands of role out and inout, in order.
Result<Verdict> judge_by(std::span<const Expected> expected, const Workload& workload, const Operands& operands,
                         std::span<const std::shared_ptr<const GuardedBuffer>> outputs);

// Compares every output that has a reference with it. `outputs` are the operands of role out and inout, in order.
// Correct means that NaN and Inf are where the reference has them, and that no element is outside atol +
// rtol·|reference|. Without a reference, or if only a sample of the CTAs ran (`partial`), the verdict is unchecked and
// says why.
Result<Verdict> judge(const Workload& workload, const Operands& operands,
                      std::span<const std::shared_ptr<const GuardedBuffer>> outputs, bool partial);

}  // namespace attnscope::check
