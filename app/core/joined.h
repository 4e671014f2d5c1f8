#pragma once
#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

namespace attnscope {

// Joins the items as "a, b, c". `text` returns an item's text, or is the member that holds it.
template <class List, class Text = std::identity>
std::string joined(const List& list, Text text = {}, std::string_view between = ", ") {
  std::string all;
  bool first = true;
  for (const auto& item : list) {
    if (!first) all += between;
    all += std::invoke(text, item);
    first = false;
  }
  return all;
}

// "1 element", "2 elements", "n elements": `count` is a number or an expression.
template <class Count>
std::string how_many(const Count& count, std::string_view word) {
  std::string text = fmt::format("{} {}", count, word);
  if (!text.starts_with("1 ")) text += "s";
  return text;
}

}  // namespace attnscope
