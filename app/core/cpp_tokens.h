#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace attnscope {

// A token of C++, as precise as finding declarations requires. Comments and the text under `#if 0` are not tokens.
struct CppToken {
  enum class Kind { word, number, text, mark, line };  // text: "…", '…', R"(…)"; line: a whole preprocessor line
  Kind kind = Kind::mark;
  std::string_view text;  // of the source; a mark is one character
  size_t at = 0;          // bytes from the source's start
  size_t end() const { return at + text.size(); }
  bool is(std::string_view other) const { return kind != Kind::text && text == other; }
};

// The tokens of `source`, which they point into, without a byte order mark. Never fails: an unterminated literal ends
// with the source.
std::vector<CppToken> cpp_tokens(std::string_view source);

// Which token closes each bracket, found for all of them in one pass: a look-up takes constant time, so text with many
// opening brackets takes no longer than other text.
class CppBrackets {
 public:
  explicit CppBrackets(const std::vector<CppToken>& tokens);
  // Index of the token that closes the bracket at `open` ("(", "[" or "{"), or the number of tokens.
  size_t closing(size_t open) const { return ends_[open]; }
  // Index after the ">" that closes the "<" at `open`; `open` + 1 when none does before its bracket or statement ends.
  size_t behind_angles(size_t open) const { return ends_[open]; }

 private:
  std::vector<size_t> ends_;  // for each token; the number of tokens for one that opens nothing
};

}  // namespace attnscope
