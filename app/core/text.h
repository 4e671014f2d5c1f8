#pragma once
#include <charconv>
#include <optional>
#include <string_view>

namespace attnscope {

// All of `text` as a number of type T; empty if it is anything else or out of range.
template <class T>
std::optional<T> number_of(std::string_view text, int base = 10) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Without blanks, tabs and carriage returns at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace attnscope
