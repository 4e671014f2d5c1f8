#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace attnscope {

// A token of C++ as far as finding declarations needs it. Comments are no tokens; what stands under `#if 0` neither.
struct CppToken {
  enum class Kind { word, number, text, mark, line };  // text: "…", '…', R"(…)"; line: a whole preprocessor line
  Kind kind = Kind::mark;
  std::string_view text;  // of the source; a mark is one character
  size_t at = 0;          // bytes from the source's start
  size_t end() const { return at + text.size(); }
  bool is(std::string_view other) const { return kind != Kind::text && text == other; }
};

// The tokens of `source`, which they point into. Never fails: an unterminated literal ends with the source.
std::vector<CppToken> cpp_tokens(std::string_view source);

// Index of the token that closes the bracket at `open` ("(", "[" or "{"), or tokens.size().
size_t closing(const std::vector<CppToken>& tokens, size_t open);
// Index behind the ">" that closes the "<" at `open`, brackets within skipped; `open` + 1 when there is none.
size_t behind_angles(const std::vector<CppToken>& tokens, size_t open);

}  // namespace attnscope
