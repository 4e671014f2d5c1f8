#pragma once
#include <algorithm>
#include <cctype>
#include <string>

namespace attnscope::ui {

// Whether the text holds what is searched for, in letters of either case; nothing is in every text.
inline bool holds_words(const std::string& text, const std::string& wanted) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return wanted.empty() || !std::ranges::search(text, wanted, same).empty();
}

}  // namespace attnscope::ui
