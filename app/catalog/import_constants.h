#pragma once
#include <nlohmann/json.hpp>

#include "catalog/host_scope.h"
#include "catalog/import.h"
#include "catalog/import_parameters.h"

namespace attnscope::catalog {

// How the note of a variable that gets no contents goes on after its name.
inline constexpr const char* kHoldsZeros = " holds zeros";

// Adds to `buffers` one for each __constant__ variable that the host code sets (cudaMemcpyToSymbol), if its type and
// length are known; the others hold zeros. Adds a note to `imported`.
void import_constants(const ReadSource& source, const HostScope& scope, nlohmann::ordered_json& buffers,
                      Imported& imported);

}  // namespace attnscope::catalog
