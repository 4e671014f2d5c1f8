#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catalog/element_types.h"
#include "catalog/host_scope.h"
#include "catalog/read_source.h"

namespace attnscope::catalog {

// A literal as a number; empty if it is not one of the type.
std::optional<double> literal_value(const std::string& text, ElementType type);

// What the host code passes for a parameter that is neither a buffer nor a size.
struct PassedNumber {
  double number = 0;
  bool guessed = false;   // another block's, or one that may have changed
  bool of_sizes = false;  // computed from the kernel's sizes, of which the host code says no value
};
// Empty if the host code does not say, or the type cannot hold it. An expression without a value in it, such as one of
// a size that the launch gets from elsewhere, is empty too.
std::optional<PassedNumber> passed_number(const HostText& passed, ElementType type, const HostScope& scope);

// What the host code gives each member of a struct that the launch passes: `Type name{a, b};`, `Type name = {a, b};`,
// `Type{a, b}` and `name.member = a;`. An empty text for a member of which it says nothing,
// or which a branch or another use of the name may have changed.
std::vector<HostText> passed_members(const ReadSource& source, const HostText& passed,
                                     const std::vector<SourceParameter>& members);

// A number as a manifest's argument. Whole numbers of a whole type are written without a point.
nlohmann::ordered_json value_argument(double number, ElementType type);

// True for a name such as seed, offset or row_idx, which counts nothing that a buffer's length could follow.
bool counts_nothing(const std::string& name);

}  // namespace attnscope::catalog
