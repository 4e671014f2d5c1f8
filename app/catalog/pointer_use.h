#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::catalog {

// What a kernel's own text does with the memory that a parameter points to.
struct PointerUse {
  bool read = false, stored = false;
  bool passed_on = false;  // to a function, a macro or another pointer, where the text does not show its use
  bool scattered = false;  // data decides which elements are stored; the others keep their content
  // A plain load is the first use, in the text's order: what the memory begins with is then part of the result. An
  // atomic is none, because what a kernel counts up usually begins at 0.
  bool loaded_first = false;
};

// By parameter. A name in the body that hides a parameter counts as it.
std::map<std::string, PointerUse, std::less<>> pointer_uses(std::string_view body,
                                                            const std::vector<std::string>& parameters);

}  // namespace attnscope::catalog
