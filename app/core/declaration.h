#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope {

// True if `alignas(16)` or the like is at i. Its brackets do not make the declaration a function.
inline bool is_alignment(const std::vector<CppToken>& tokens, size_t i) {
  const bool word = tokens[i].is("alignas") || tokens[i].is("__align__") || tokens[i].is("__attribute__");
  return word && i + 1 < tokens.size() && tokens[i + 1].is("(");
}

// The last token of the initialiser after the "=" at i.
inline size_t value_end(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t i) {
  while (i + 1 < tokens.size() && !tokens[i + 1].is(",") && !tokens[i + 1].is(";") && !tokens[i + 1].is("}")) {
    ++i;
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{"))
      i = std::min(brackets.closing(i), tokens.size() - 1);
    else if (tokens[i].is("<"))
      i = brackets.behind_angles(i) - 1;
  }
  return i;
}

}  // namespace attnscope
