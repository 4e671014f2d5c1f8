#pragma once
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::explain {

// Finds illegal arguments of a cuBLAS product, column-major: a leading dimension that is too small, and types of A and
// B that differ. `call` is an object with routine, transa, transb, m, n, k, lda, ldb, ldc and, if the routine takes
// them, atype and btype. A Failure names the fault by its JSON pointer after `where`.
Result<std::vector<Finding>> findings_of_gemm(const Json& call, const std::string& where);

}  // namespace attnscope::explain
