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
};

// By parameter. A name in the body that hides a parameter counts as it.
std::map<std::string, PointerUse, std::less<>> pointer_uses(std::string_view body,
                                                            const std::vector<std::string>& parameters);

}  // namespace attnscope::catalog
