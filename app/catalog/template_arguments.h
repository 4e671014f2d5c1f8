#pragma once
#include <optional>
#include <string>
#include <vector>

#include "catalog/cuda_source.h"
#include "catalog/host_scope.h"

namespace attnscope::catalog {

// Splits template arguments at the top level: "float, Pair<int, 2>" is two.
std::vector<std::string> split_arguments(const std::string& text);

bool is_type_parameter(const TemplateParameter& parameter);

struct TemplateArguments {
  std::vector<std::string> values;
  bool guessed = false;
};
// An argument for each of the template's parameters, in words that mean the same everywhere; empty if one of them does
// not. `offer` is what a launch gives, or, with `given`, a person, whose arguments are used unchanged. `launched`: the
// compiler deduces the missing ones from the launch, so a type may be guessed. A type that a pointer of the kernel
// refers to may be guessed too.
std::optional<TemplateArguments> template_arguments(const SourceKernel& kernel, const std::vector<std::string>& offer,
                                                    bool given, bool launched, const HostScope& scope);

}  // namespace attnscope::catalog
