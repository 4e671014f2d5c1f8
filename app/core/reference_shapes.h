#pragma once
#include <string>
#include <vector>

#include "core/result.h"
#include "core/workload.h"

namespace attnscope {

// Failure (Stage::catalog) at `where` if the reference's inputs and output are not operands, or if their shapes do not
// fit its kind (the table in docs/writing-a-kernel.md).
Result<void> check_shapes(const ReferenceSpec& spec, const std::vector<Operand>& operands, const std::string& where);

}  // namespace attnscope
