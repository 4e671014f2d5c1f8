#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/import.h"

namespace attnscope::catalog {

// The manifest's "knobs": the macros and constants that may be set from outside, and those that the #ifdefs around the
// kernels need. Adds them to `scope`, and facts and guesses to `imported`.
nlohmann::ordered_json import_knobs(const CudaSource& source, const std::vector<const SourceKernel*>& kernels,
                                    HostScope& scope, Imported& imported);

}  // namespace attnscope::catalog
