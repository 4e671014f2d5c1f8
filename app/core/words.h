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

// An enumeration whose words are the same everywhere says them once: template <> struct Words<E> { … table }.
template <class E>
struct Words;
template <class E>
concept Worded = requires {
  Words<E>::table;
};

template <>
struct Words<Stage> {
  static constexpr WordTable<Stage, 14> table{{{Stage::input, "input"},
                                               {Stage::catalog, "catalog"},
                                               {Stage::compile, "compile"},
                                               {Stage::limits, "limits"},
                                               {Stage::device, "device"},
                                               {Stage::decode, "decode"},
                                               {Stage::launch, "launch"},
                                               {Stage::deadline, "deadline"},
                                               {Stage::crash, "crash"},
                                               {Stage::cancelled, "cancelled"},
                                               {Stage::check, "check"},
                                               {Stage::store, "store"},
                                               {Stage::protocol, "protocol"},
                                               {Stage::internal, "internal"}}};
};

template <Worded E>
std::string_view to_string(E value) {
  return word_of(Words<E>::table, value);
}

template <Worded E>
Result<E> parse_word(std::string_view text, Stage stage = Stage::input) {
  return value_of(Words<E>::table, text, stage);
}

}  // namespace attnscope
