#include "core/cpp_tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace attnscope {
namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool in_word(char c) { return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : s_(source) {}

  std::vector<CppToken> all() {
    bool line_start = true;
    if (s_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (at_ < s_.size()) {
      const char c = s_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
      } else if (blank(c)) {
        ++at_;
      } else if (const size_t joint = joint_at(at_)) {
        at_ += joint;
      } else if (c == '/' && (next() == '/' || next() == '*')) {
        at_ = behind_comment(at_);
      } else if (c == '#' && line_start) {
        take_line();
      } else {
        line_start = false;
        take(c);
      }
    }
    return std::move(tokens_);
  }

 private:
  using Kind = CppToken::Kind;
  char next() const { return at_ + 1 < s_.size() ? s_[at_ + 1] : '\0'; }
  // The length of a backslash and the line end behind it, which join two lines; 0 if there is none. Files written on
  // Windows end their lines with \r\n.
  size_t joint_at(size_t at) const {
    const std::string_view rest = s_.substr(at, 3);
    return rest.starts_with("\\\n") ? 2 : rest == "\\\r\n" ? 3 : 0;
  }
  // Whether the line that ends at `end` goes on behind it.
  bool joined(size_t end) const { return (end > 0 && joint_at(end - 1) == 2) || (end > 1 && joint_at(end - 2) == 3); }
  void push(Kind kind, size_t end) {
    end = std::min(end, s_.size());
    tokens_.push_back({kind, s_.substr(at_, end - at_), at_});
    at_ = end;
  }

  size_t behind_comment(size_t at) const {
    if (s_[at + 1] == '*') {
      const size_t end = s_.find("*/", at + 2);
      return end == std::string_view::npos ? s_.size() : end + 2;
    }
    size_t end = s_.find('\n', at);
    while (end != std::string_view::npos && joined(end)) end = s_.find('\n', end + 1);
    return end == std::string_view::npos ? s_.size() : end;
  }

  size_t behind_literal(size_t at, char quote) const {
    for (++at; at < s_.size() && s_[at] != quote && s_[at] != '\n'; ++at)
      if (s_[at] == '\\') ++at;
    return at + 1;
  }

  void take(char c) {
    if (starts_word(c)) {
      size_t end = at_;
      while (end < s_.size() && in_word(s_[end])) ++end;
      const std::string_view word = s_.substr(at_, end - at_);
      const bool prefix = word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
      if (prefix && end < s_.size() && s_[end] == '"') return push(Kind::text, behind_raw(end));
      return push(Kind::word, end);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      size_t end = at_;  // 1'000'000, 0x1p-3f, 1e+5
      while (end < s_.size() &&
             (in_word(s_[end]) || s_[end] == '.' || (s_[end] == '\'' && end + 1 < s_.size() && in_word(s_[end + 1])) ||
              ((s_[end] == '+' || s_[end] == '-') &&
               std::string_view("eEpP").find(s_[end - 1]) != std::string_view::npos)))
        ++end;
      return push(Kind::number, end);
    }
    if (c == '"' || c == '\'') return push(Kind::text, behind_literal(at_, c));
    push(Kind::mark, at_ + 1);
  }

  size_t behind_raw(size_t quote) const {
    const size_t open = s_.substr(0, quote + 18).find('(', quote);  // a delimiter has at most 16 characters
    if (open == std::string_view::npos) return behind_literal(quote, '"');
    const std::string close = ")" + std::string(s_.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t end = s_.find(close, open);
    return end == std::string_view::npos ? s_.size() : end + close.size();
  }

  // A preprocessor line with its continuations and comments.
  void take_line() {
    const size_t end = behind_line(at_);
    const std::string_view line = s_.substr(at_, end - at_);
    push(Kind::line, end);
    if (is_directive(line, "if") && rest_of(line, "if") == "0") skip_dead_branch();
  }

  size_t behind_line(size_t at) const {
    while (at < s_.size() && s_[at] != '\n') {
      if (const size_t joint = joint_at(at))
        at += joint;
      else if (s_[at] == '/' && at + 1 < s_.size() && s_[at + 1] == '*')
        at = behind_comment(at);
      else if (s_[at] == '/' && at + 1 < s_.size() && s_[at + 1] == '/')
        return behind_comment(at);
      else
        ++at;
    }
    return std::min(at, s_.size());
  }

  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
  }
  static bool is_directive(std::string_view line, std::string_view name) {
    line = trimmed(line.substr(1));
    return line.starts_with(name) && (line.size() == name.size() || !in_word(line[name.size()]));
  }
  static std::string_view rest_of(std::string_view line, std::string_view name) {
    return trimmed(trimmed(line.substr(1)).substr(name.size()));
  }

  // Text under #if 0 need not be C++ at all.
  void skip_dead_branch() {
    for (int depth = 1; at_ < s_.size();) {
      const size_t start = at_;
      while (at_ < s_.size() && blank(s_[at_])) ++at_;
      if (at_ < s_.size() && s_[at_] == '#') {
        const size_t end = behind_line(at_);
        const std::string_view line = s_.substr(at_, end - at_);
        if (is_directive(line, "if") || is_directive(line, "ifdef") || is_directive(line, "ifndef")) ++depth;
        if (is_directive(line, "endif")) --depth;
        const bool other = depth == 1 && (is_directive(line, "else") || is_directive(line, "elif"));
        if (depth == 0 || other) return;  // the lexer continues at this line
        at_ = end;
      }
      const size_t end = s_.find('\n', std::max(at_, start));
      at_ = end == std::string_view::npos ? s_.size() : end + 1;
    }
  }

  std::string_view s_;
  size_t at_ = 0;
  std::vector<CppToken> tokens_;
};

}  // namespace

std::vector<CppToken> cpp_tokens(std::string_view source) { return Lexer(source).all(); }

CppBrackets::CppBrackets(const std::vector<CppToken>& tokens) : ends_(tokens.size(), tokens.size()) {
  std::vector<size_t> brackets, angles;  // the open ones; angles in the innermost bracket come after its mark
  std::vector<size_t> marks{0};          // for each open bracket, and for none: where its angles begin
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != CppToken::Kind::mark) continue;
    const char c = tokens[i].text[0];
    if (c == '(' || c == '[' || c == '{') {
      brackets.push_back(i);
      marks.push_back(angles.size());
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty()) continue;
      ends_[brackets.back()] = i;
      brackets.pop_back();
      angles.resize(marks.back());
      marks.pop_back();
    } else if (c == '<') {
      ends_[i] = i + 1;
      angles.push_back(i);
    } else if (c == '>' && angles.size() > marks.back()) {
      ends_[angles.back()] = i + 1;
      angles.pop_back();
    } else if (c == ';') {
      angles.resize(marks.back());
    }
  }
}

}  // namespace attnscope
