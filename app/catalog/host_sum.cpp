#include "catalog/host_sum.h"

#include <cstdlib>

namespace attnscope::catalog {

std::string HostSum::text() const {
  std::string text;
  for (const auto& [minus, part] : parts) text += (text.empty() ? (minus ? "-" : "") : minus ? " - " : " + ") + part;
  if (text.empty()) return std::to_string(number);
  if (number != 0) text += (number < 0 ? " - " : " + ") + std::to_string(std::abs(number));
  return text;
}

std::string HostSum::factor() const {
  const bool single = parts.empty() ? number >= 0 : parts.size() == 1 && number == 0 && !parts[0].first;
  return single ? text() : "(" + text() + ")";
}

std::string HostSum::right_side() const {
  const std::string text = factor();
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && (c == '*' || c == '/' || c == '%')) return "(" + text + ")";
  }
  return text;
}

}  // namespace attnscope::catalog
