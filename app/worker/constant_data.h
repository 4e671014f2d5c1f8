#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "check/operands.h"
#include "compile/compiler.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::worker {

// The variants of a program's launches, or a kernel's single variant, with the contents of the workload's buffers that
// are variables of the source (Operand::symbol). Returns `variants` unchanged if there are none. A launch may lack a
// variable that it does not read; if every launch lacks it, that is a Failure (Stage::input). `given`: the workload's
// contents, if they are not made from the buffers' init.
using Variants = std::vector<std::shared_ptr<const compile::Variant>>;
Result<Variants> with_constant_data(Variants variants, const std::optional<Workload>& workload, const Problem& problem,
                                    const check::Operands* given = nullptr);

}  // namespace attnscope::worker
