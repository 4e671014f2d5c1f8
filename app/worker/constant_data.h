#pragma once
#include <memory>
#include <optional>

#include "compile/compiler.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::worker {

// The variant with the contents of the workload's buffers that are variables of the source (Operand::symbol); the same
// variant if it has none.
Result<std::shared_ptr<const compile::Variant>> with_constant_data(std::shared_ptr<const compile::Variant> variant,
                                                                   const std::optional<Workload>& workload,
                                                                   const Problem& problem);

}  // namespace attnscope::worker
