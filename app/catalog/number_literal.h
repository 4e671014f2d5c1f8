#pragma once
#include <string>
#include <string_view>

namespace attnscope::catalog {

// "2.5f" gives 2.5.
inline std::string without_suffix(std::string literal) {
  while (!literal.empty() && std::string_view("fFlLuU").find(literal.back()) != std::string_view::npos)
    literal.pop_back();
  return literal;
}

// 010, which is 8 in C++.
inline bool is_octal(std::string_view literal) {
  return literal.size() > 1 && literal[0] == '0' && literal[1] >= '0' && literal[1] <= '9';
}

}  // namespace attnscope::catalog
