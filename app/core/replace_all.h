#pragma once
#include <string>
#include <string_view>

namespace attnscope {

// Puts `by` in place of each `what`, from the left. `what` is not empty.
inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

}  // namespace attnscope
