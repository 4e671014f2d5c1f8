#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/import.h"
#include "core/result.h"

namespace attnscope::catalog {

// What a manifest says of a kernel's parameters.
struct BoundParameters {
  std::map<std::string, int64_t> sizes;
  std::vector<std::string> size_names;  // in the parameters' order
  nlohmann::ordered_json buffers = nlohmann::ordered_json::array();
  nlohmann::ordered_json arguments = nlohmann::ordered_json::array();
};

// A source file as import reads it.
struct ReadSource {
  std::string text;
  CudaSource cuda;
  HostSource host;
};

// Makes each parameter a size, a buffer or a value. The sizes join `scope`, which has the knobs. What the source says
// and what it does not goes to `imported`. Failure (Stage::input) when a parameter's type cannot be passed.
// `launch`: the kernel's launch in the host code, or null.
Result<BoundParameters> bind_parameters(const std::string& source_name, const ReadSource& source,
                                        const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope,
                                        Imported& imported);

}  // namespace attnscope::catalog
