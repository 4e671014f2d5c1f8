#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace attnscope {

// Converts between an enumeration and its words, from one table.
template <class T, size_t N>
using WordTable = std::array<std::pair<T, std::string_view>, N>;

template <class T, size_t N>
std::string_view word_of(const WordTable<T, N>& table, T value) {
  for (const auto& [entry, word] : table)
    if (entry == value) return word;
  return "?";
}

// The text that people see for a word; files hold the words of the tables. A test replaces this function to rename
// every label.
std::string_view label(std::string_view word);

template <class T, size_t N>
Result<T> value_of(const WordTable<T, N>& table, std::string_view text, Stage stage = Stage::input) {
  std::string words;
  for (const auto& [entry, word] : table) {
    if (word == text) return entry;
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return fail(stage, "\"" + std::string(text) + "\" is not one of " + words, "Use one of " + words + ".");
}

// The name of an enumerator; empty if the enumeration has none with that value. Compilers spell it in the signature: "…
// enumerator() [with auto V = attnscope::Stage::input; …]", "… enumerator() [V = (attnscope::Stage)14]".
template <auto V>
constexpr std::string_view enumerator() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("V = "));
  name = name.substr(0, name.find_first_of(";]"));
  name.remove_prefix(name.rfind(':') + 1);
  return name.find(')') == name.npos ? name : std::string_view();
}

// The table of an enumeration whose words are its enumerators' names: template <> struct Words<E> : NamesAsWords<E> {};
// The enumerators must have the values 0, 1, 2 and so on.
template <class E>
struct NamesAsWords {
  template <size_t N = 0>
  static constexpr size_t count() {
    if constexpr (enumerator<static_cast<E>(N)>().empty())
      return N;
    else
      return count<N + 1>();
  }
  static constexpr auto table = []<size_t... N>(std::index_sequence<N...>) {
    return WordTable<E, sizeof...(N)>{{{static_cast<E>(N), enumerator<static_cast<E>(N)>()}...}};
  }
  (std::make_index_sequence<count()>());
};

// An enumeration declares its words once: template <> struct Words<E> { … table }, or as above. `also` holds words that
// are accepted and never written.
template <class E>
struct Words;
template <class E>
concept Worded = requires {
  Words<E>::table;
};

template <>
struct Words<Stage> : NamesAsWords<Stage> {};
template <>
struct Words<FailureKind> : NamesAsWords<FailureKind> {};

// For files, the protocol and JSON.
template <Worded E>
std::string_view word_of(E value) {
  return word_of(Words<E>::table, value);
}

// For people.
template <Worded E>
std::string_view to_string(E value) {
  return label(word_of(value));
}

template <Worded E>
Result<E> parse_word(std::string_view text, Stage stage = Stage::input) {
  if constexpr (requires { Words<E>::also; })
    for (const auto& [value, word] : Words<E>::also)
      if (word == text) return value;
  return value_of(Words<E>::table, text, stage);
}

}  // namespace attnscope
