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

// The variants of a program's launches, or a kernel's only one, with the contents of the workload's buffers that are
// variables of the source (Operand::symbol); the same ones if it has none. A launch that does not read a variable lacks
// it; a variable that all lack is a Failure (Stage::input). `given`: the workload's contents, if they are not made from
// its buffers' init.
using Variants = std::vector<std::shared_ptr<const compile::Variant>>;
Result<Variants> with_constant_data(Variants variants, const std::optional<Workload>& workload, const Problem& problem,
                                    const check::Operands* given = nullptr);

}  // namespace attnscope::worker
