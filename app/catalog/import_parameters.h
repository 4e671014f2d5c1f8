#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catalog/host_scope.h"
#include "catalog/import.h"
#include "catalog/pointer_use.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::catalog {

// What a manifest says about a kernel's parameters.
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
  size_t own = SIZE_MAX;  // bytes of the file itself; behind them is another file's text, which launches its kernels
  std::string_view own_text() const { return std::string_view(text).substr(0, own); }
};
// `launcher`: the text of another file, of which only the host code counts.
ReadSource read_source(const std::string& source, const std::string& launcher = "");

// Makes each parameter a size, a buffer or a value. Adds the sizes to `scope`, which has the knobs, and facts and
// guesses to `imported`. Failure (Stage::input) if a parameter's type cannot be passed. `launch`: the kernel's launch
// in the host code, or null.
Result<BoundParameters> bind_parameters(const std::string& source_name, const ReadSource& source,
                                        const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope,
                                        Imported& imported);

using PointerUses = std::map<std::string, PointerUse, std::less<>>;
// What a kernel's own text does with its pointers, by parameter; empty if no output is visible, because a macro hides
// it.
PointerUses uses_of(const ReadSource& source, const SourceKernel& kernel);
// The use of one parameter. A pointer to const is only read; a pointer about which nothing is known may be read and
// written.
PointerUse use_of(const PointerUses& uses, const SourceParameter& parameter);

// True if a parameter is a whole number of 4 or 8 bytes, which may be a size.
bool is_size_type(const SourceParameter& parameter, const HostScope& scope);
// "2.5f" gives 2.5.
std::string without_suffix(std::string literal);
// A literal as a number; empty if it is not one of the type.
std::optional<double> literal_value(const std::string& text, ElementType type);
// For a size about which the source says nothing. The more such sizes, the smaller they are, because a kernel's work is
// often their product.
int64_t usual_size(const std::string& name, size_t unknown);

}  // namespace attnscope::catalog
