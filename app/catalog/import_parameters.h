#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/import.h"
#include "catalog/read_source.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::catalog {

// What a manifest says about a kernel's parameters.
struct BoundParameters {
  std::map<std::string, int64_t> sizes;
  std::vector<std::string> size_names;  // in the parameters' order
  nlohmann::ordered_json buffers = nlohmann::ordered_json::array();
  nlohmann::ordered_json arguments = nlohmann::ordered_json::array();
  HostScope::Names names;  // of the host code, from which allocations are computed
};

// Makes each parameter a size, a buffer or a value. Adds the sizes to `scope`, which has the knobs, and facts and
// guesses to `imported`. Failure (Stage::input) if a parameter's type cannot be passed. `launch`: the kernel's launch
// in the host code, or null.
Result<BoundParameters> bind_parameters(const std::string& source_name, const ReadSource& source,
                                        const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope,
                                        Imported& imported);

}  // namespace attnscope::catalog
