#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// `const float* row = x + i * n;`: another name for an address in what a pointer leads to.
struct PointerAlias {
  std::string_view name, pointer;
  size_t name_at = 0;         // token of the name
  size_t at = 0;              // of the pointer
  size_t begin = 0, end = 0;  // tokens of what is added to it
};

// The local pointers of a kernel's body that are declared from one of `pointers`, or from one found before, and from
// nothing else: `T* a = p;`, `auto* a = p + …;`, `T* a = &p[…];`, also through a cast. In the body's order.
std::vector<PointerAlias> pointer_aliases(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                          const std::vector<std::string>& pointers);

}  // namespace attnscope::catalog
