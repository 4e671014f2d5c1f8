#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// Limits of what is read, because a manifest cannot contain more: a hostile file that repeats texts would otherwise
// cost its length squared.
inline constexpr size_t kMostTextTokens = 250;  // of an expression, a type or a parameter
inline constexpr size_t kLongestText = 2000;    // bytes of one text

inline bool is(const std::vector<CppToken>& tokens, size_t i, std::string_view text) {
  return i < tokens.size() && tokens[i].is(text);
}

// True if the word at `i` is a name inside another: x.name, x->name, ns::name. The one behind a label's or a choice's
// single colon is not.
inline bool is_member(const std::vector<CppToken>& tokens, size_t i) {
  if (i > 0 && tokens[i - 1].is(".")) return true;
  return i > 1 &&
         ((tokens[i - 1].is(">") && tokens[i - 2].is("-")) || (tokens[i - 1].is(":") && tokens[i - 2].is(":")));
}

// The text of the source with uniform blanks; empty if it is too long.
std::string text_of(const std::vector<CppToken>& tokens, size_t begin, size_t end);

// __launch_bounds__(64), __maxnreg__(64), __attribute__((…)): whether the word is an attribute with parentheses that
// may precede a kernel's name.
bool is_kernel_attribute(const CppToken& word);

// Splits [begin, end) at commas that are not in brackets.
std::vector<std::pair<size_t, size_t>> parts_of(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
                                                size_t begin, size_t end);

}  // namespace attnscope::catalog
