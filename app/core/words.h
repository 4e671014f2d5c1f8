#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace attnscope {

// The two directions between an enumeration and its words, from one table.
template <class T, size_t N>
using WordTable = std::array<std::pair<T, std::string_view>, N>;

template <class T, size_t N>
std::string_view word_of(const WordTable<T, N>& table, T value) {
  for (const auto& [entry, word] : table)
    if (entry == value) return word;
  return "?";
}

template <class T, size_t N>
Result<T> value_of(const WordTable<T, N>& table, std::string_view text, Stage stage = Stage::input) {
  std::string words;
  for (const auto& [entry, word] : table) {
    if (word == text) return entry;
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return fail(stage, "\"" + std::string(text) + "\" is not one of " + words, "Use one of " + words + ".");
}

}  // namespace attnscope
