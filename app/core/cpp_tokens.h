#pragma once
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// A token of C++, as precise as is needed to find declarations. Comments and the text under `#if 0` are not tokens.
struct CppToken {
  enum class Kind { word, number, text, mark, line };  // text: "…", '…', R"(…)"; line: a whole preprocessor line
  Kind kind = Kind::mark;
  std::string_view text;  // of the source; a mark is one character
  size_t at = 0;          // byte offset in the source
  size_t end() const { return at + text.size(); }
  bool is(std::string_view other) const { return kind != Kind::text && text == other; }
};

// The tokens of `source`; they point into it. A byte order mark is skipped. Never fails: an unterminated literal ends
// with the source.
std::vector<CppToken> cpp_tokens(std::string_view source);
template <std::same_as<std::string> Temporary>
std::vector<CppToken> cpp_tokens(Temporary&& source) = delete;  // the tokens would outlive it

// The token that closes each bracket. One pass finds all of them, so that a look-up takes constant time and text with
// many opening brackets costs no more than other text.
class CppBrackets {
 public:
  explicit CppBrackets(const std::vector<CppToken>& tokens);
  // Index of the token that closes the bracket at `open` ("(", "[" or "{"), or the number of tokens.
  size_t closing(size_t open) const { return ends_[open]; }
  // Index after the ">" that closes the "<" at `open`; `open` + 1 if none does before the enclosing bracket or the
  // statement ends.
  size_t behind_angles(size_t open) const { return ends_[open]; }

 private:
  std::vector<size_t> ends_;  // index for each token; the number of tokens for a token that opens nothing
};

}  // namespace attnscope
