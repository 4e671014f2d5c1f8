#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "catalog/cuda_source.h"
#include "catalog/host_expression.h"

namespace attnscope::catalog {

// What the names in host code mean where the kernel is launched.
class HostScope {
 public:
  explicit HostScope(const CudaSource& source) : source_(source) {}

  size_t used_at = SIZE_MAX;                     // where the launch is, in bytes; without one the end
  std::map<std::string, std::string> templates;  // the arguments of the chosen instance, by parameter
  std::map<std::string, int64_t> kept;           // the manifest's knobs and sizes, by their defaults

  // A whole-number expression as its number; empty if a name in it is unknown.
  std::optional<int64_t> number_of(const std::string& expression) const;
  // A host expression as a manifest's, which may name what is kept; empty if that is not possible.
  std::string in_terms(const std::string& expression) const;
  // A kernel does not see a host constant; it does see a macro, but the macro's value says more.
  std::string constant_or_itself(const std::string& word) const;
  // The type that a template's parameter, an alias or a macro stands for.
  std::string resolved_type(std::string type) const;
  // Whether `value` means the same outside the function or macro that contains it.
  bool stands_alone(const std::string& value) const;

 private:
  HostNames names(bool keep) const;

  const CudaSource& source_;
};

}  // namespace attnscope::catalog
