#pragma once
#include <map>
#include <set>
#include <string>

#include "catalog/host_scope.h"
#include "catalog/import_parameters.h"

namespace attnscope::catalog {

// What the launch passes for a parameter; empty for a struct's member.
HostText argument_of(const SourceKernel& kernel, const SourceLaunch* launch, const SourceParameter& parameter);

std::string in_capitals(std::string text);

// True if a parameter is a whole number of 4 or 8 bytes, which may be a size.
bool is_size_type(const SourceParameter& parameter, const HostScope& scope);
// For a size about which the source says nothing. The more such sizes, the smaller they are, because a kernel's work is
// often their product.
int64_t usual_size(const std::string& name, size_t unknown);

// Whole-number parameters that are no sizes of their own.
struct KernelSizes {
  std::map<std::string, std::string> formulas;  // they follow from the sizes
  std::set<std::string> fixed;                  // 0 or less at the launch, or an index by their name
};

// Adds the kernel's sizes to `bound` and to `scope`, and says in `imported` where each value comes from.
KernelSizes find_sizes(const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope, BoundParameters& bound,
                       Imported& imported);

}  // namespace attnscope::catalog
