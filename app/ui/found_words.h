#pragma once
#include <algorithm>
#include <string_view>

namespace attnscope::ui {

// True if the text contains `wanted`, ignoring the case of the letters A to Z. Empty words are in every text. No call
// for a letter: a search goes through tens of thousands of lines within a frame.
inline bool holds_words(std::string_view text, std::string_view wanted) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same = [lower](char a, char b) { return lower(a) == lower(b); };
  return wanted.empty() || !std::ranges::search(text, wanted, same).empty();
}

}  // namespace attnscope::ui
