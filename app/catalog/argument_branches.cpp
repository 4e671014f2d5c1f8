#include "catalog/argument_branches.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/source_text.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostBranches = 100;
constexpr size_t kMostOfBranch = 400;  // tokens

class Branches {
 public:
  explicit Branches(std::string& text, const std::string& source)
      : text_(text), tokens_(cpp_tokens(source)), brackets_(tokens_) {}

  void decide_all() {
    size_t decided = 0;
    for (size_t i = 0; i + 2 < tokens_.size() && decided < kMostBranches; ++i)
      if (!gone_[i] && is_at(i, "if") && is_at(i + 1, "(")) decided += decide(i);
  }

 private:
  bool is_at(size_t i, std::string_view text) const { return is(tokens_, i, text); }

  // `argc > 1` and `2 == argc`, for argc = 1.
  std::optional<bool> holds(size_t begin, size_t end) const {
    const bool first = is_at(begin, "argc");
    if (end < begin + 3 || end > begin + 4 || !(first || is_at(end - 1, "argc"))) return std::nullopt;
    const std::string_view number = tokens_[first ? end - 1 : begin].text;
    int64_t other = 0;
    const auto [behind, error] = std::from_chars(number.data(), number.data() + number.size(), other);
    if (error != std::errc{} || behind != number.data() + number.size()) return std::nullopt;
    std::string what(tokens_[begin + 1].text);
    if (end == begin + 4) what += tokens_[begin + 2].text;
    const int64_t a = first ? 1 : other, b = first ? other : 1;
    if (what == "==") return a == b;
    if (what == "!=") return a != b;
    if (what == "<") return a < b;
    if (what == ">") return a > b;
    if (what == "<=") return a <= b;
    if (what == ">=") return a >= b;
    return std::nullopt;
  }

  // The token behind the statement that begins at `i`; nothing if it is long, or has no end.
  std::optional<size_t> behind(size_t i) const {
    const auto limited = [&](size_t end) {
      return end < tokens_.size() && end - i < kMostOfBranch ? std::optional(end + 1) : std::nullopt;
    };
    if (is_at(i, "{")) return limited(brackets_.closing(i));
    if (is_at(i, "do") || is_at(i, "try") || is_at(i, "else")) return std::nullopt;
    if ((is_at(i, "if") || is_at(i, "for") || is_at(i, "while") || is_at(i, "switch")) && is_at(i + 1, "(")) {
      const size_t header = brackets_.closing(i + 1);
      auto end = header + 1 < tokens_.size() ? behind(header + 1) : std::nullopt;
      if (end && is_at(i, "if") && is_at(*end, "else")) end = behind(*end + 1);
      return end;
    }
    for (size_t end = i; end < tokens_.size() && end - i < kMostOfBranch; ++end) {
      if (is_at(end, ";")) return end + 1;
      if (is_at(end, "(") || is_at(end, "{") || is_at(end, "[")) end = brackets_.closing(end);
    }
    return std::nullopt;
  }

  bool may_be_taken_out(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i)
      if (is_at(i, "return") || is_at(i, "exit") || tokens_[i].kind == CppToken::Kind::line ||
          (is_at(i, "<") && is_at(i + 1, "<") && is_at(i + 2, "<")))
        return false;
    return true;
  }

  // A name that is declared in a block is not known behind it.
  bool declares(size_t begin, size_t end) const {
    for (size_t i = begin + 1; i + 1 < end; ++i)
      if (tokens_[i].kind == CppToken::Kind::word && (is_at(i + 1, "=") || is_at(i + 1, ";") || is_at(i + 1, "{")) &&
          (tokens_[i - 1].kind == CppToken::Kind::word || is_at(i - 1, "*") || is_at(i - 1, ">")))
        return true;
    return false;
  }

  void blank(size_t begin, size_t end) {
    if (begin >= end) return;
    std::fill(gone_.begin() + static_cast<std::ptrdiff_t>(begin), gone_.begin() + static_cast<std::ptrdiff_t>(end),
              true);
    for (size_t at = tokens_[begin].at; at < tokens_[end - 1].end(); ++at)
      if (text_[at] != '\n') text_[at] = ' ';
  }

  // The statement that is taken, without its braces if it stands by itself.
  void keep(size_t i, size_t begin, size_t end) {
    const bool itself = i > 0 && (is_at(i - 1, ";") || is_at(i - 1, "{") || is_at(i - 1, "}"));
    if (!itself || !is_at(begin, "{") || declares(begin, end)) return;
    blank(begin, begin + 1);
    blank(end - 1, end);
  }

  bool decide(size_t i) {
    const size_t close = brackets_.closing(i + 1);
    const auto taken = close < tokens_.size() ? holds(i + 2, close) : std::nullopt;
    const auto first = taken ? behind(close + 1) : std::nullopt;
    if (!first) return false;
    const bool has_else = is_at(*first, "else");
    const auto second = has_else ? behind(*first + 1) : first;
    if (!second || !may_be_taken_out(i, *second)) return false;
    if (*taken) {
      blank(i, close + 1);
      keep(i, close + 1, *first);
      blank(*first, *second);
    } else {
      blank(i, *first + has_else);
      if (has_else)
        keep(i, *first + 1, *second);
      else
        text_[tokens_[*first - 1].at] = ';';  // the body of a loop or an else before it
    }
    return true;
  }

  std::string& text_;
  const std::vector<CppToken> tokens_;
  const CppBrackets brackets_;
  std::vector<bool> gone_ = std::vector<bool>(tokens_.size());
};

}  // namespace

std::string without_arguments(const std::string& source) {
  std::string text = source;
  if (source.find("argc") != std::string::npos) Branches(text, source).decide_all();
  return text;
}

}  // namespace attnscope::catalog
