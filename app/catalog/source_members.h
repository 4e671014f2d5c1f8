#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "catalog/cuda_source.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// `const float* __restrict__ x`, the tokens [begin, end): a parameter or a member.
SourceParameter parameter_of(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t begin,
                             size_t end);

// The members of the struct whose brace opens at `open`: `float x, y; int n;`. Functions take no place. Empty if it has
// anything else.
std::optional<std::vector<SourceParameter>> members_at(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                                       size_t open);

struct Enumerator {
  std::string name, value;  // an expression
  size_t at = 0;            // byte offset in the source
};
struct Enumeration {
  std::string type;  // as written; int if the source does not say
  std::vector<Enumerator> values;
};
// `Mode : uint8_t { off, on = 4 }`, at its name. Empty for a declaration that says no type, and for one that is too
// long.
std::optional<Enumeration> enumeration_at(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                          size_t name);

}  // namespace attnscope::catalog
