#pragma once
#include <algorithm>
#include <cctype>
#include <string_view>

namespace attnscope::ui {

// True if the text contains `wanted`, ignoring case. Empty words are in every text.
inline bool holds_words(std::string_view text, std::string_view wanted) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return wanted.empty() || !std::ranges::search(text, wanted, same).empty();
}

}  // namespace attnscope::ui
