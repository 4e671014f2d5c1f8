#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/cuda_source.h"
#include "catalog/host_scope.h"

namespace attnscope::catalog {

// Splits template arguments at the top level: "float, Pair<int, 2>" is two.
std::vector<std::string> split_arguments(const std::string& text);

bool is_type_parameter(const TemplateParameter& parameter);
// Of a number or a bool: const int, unsigned.
bool is_number_parameter(const TemplateParameter& parameter);

struct TemplateArguments {
  std::vector<std::string> values;
  std::map<std::string, TemplateValue> by_name;  // of the template's parameters
  bool guessed = false;
};
// An argument for each of the template's parameters, in words that mean the same everywhere; empty if one does not.
// `offer` is what a launch says, or, with `given`, a person, whose arguments are taken as they are.
// `guess`: a number of template_guess() for what nothing says; -1: none.
// `launched`: the compiler deduces from the launch what it does not say, so a type may be guessed. So may one that a
// pointer of the kernel leads to. `types`: those that are known from its arguments (deduced_types.h), by parameter.
std::optional<TemplateArguments> template_arguments(const SourceKernel& kernel, const std::vector<std::string>& offer,
                                                    bool given, bool launched, const HostScope& scope, int guess = -1,
                                                    const std::map<std::string, std::string>& types = {});

}  // namespace attnscope::catalog
