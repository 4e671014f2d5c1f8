#include "compile/include_scan.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

namespace attnscope::compile {
namespace {

constexpr auto kNpos = std::string_view::npos;
constexpr size_t kLongestName = 500;  // of a header, with its folders

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool ends_line(char c) { return c == '\n' || c == '\r'; }
bool blank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v'; }

// The index after the backslash at `at` and the line end that it joins; `at` if it joins nothing. `loosely`: also over
// blanks.
size_t behind_join(std::string_view source, size_t at, bool loosely) {
  size_t end = at + 1;
  while (loosely && end < source.size() && blank(source[end])) ++end;
  if (end < source.size() && source[end] == '\r') ++end;
  return end < source.size() && source[end] == '\n' ? end + 1 : at;
}

// A source with its continued lines joined.
struct Joined {
  std::string text;
  std::vector<size_t> joints;  // where in `text`

  // Continues counting from the last call, so that a file of includes costs only its length.
  size_t line_of(size_t at) const {
    const auto place = [&](size_t i) { return text.begin() + static_cast<ptrdiff_t>(i); };
    const auto between = std::count(place(std::min(at, counted)), place(std::max(at, counted)), '\n');
    newlines = at < counted ? newlines - static_cast<size_t>(between) : newlines + static_cast<size_t>(between);
    counted = at;
    return 1 + newlines + static_cast<size_t>(std::upper_bound(joints.begin(), joints.end(), at) - joints.begin());
  }
  mutable size_t counted = 0, newlines = 0;
};

Joined joined(std::string_view source, bool loosely) {
  Joined all;
  all.text.reserve(source.size());
  size_t copied = 0;
  for (size_t at = source.find('\\'); at != kNpos; at = source.find('\\', at)) {
    const size_t behind = behind_join(source, at, loosely);
    if (behind == at) {
      ++at;
      continue;
    }
    all.text += source.substr(copied, at - copied);
    all.joints.push_back(all.text.size());
    copied = at = behind;
  }
  all.text += source.substr(copied);
  return all;
}

class Scanner {
 public:
  Scanner(std::string_view source, bool loosely, ScannedIncludes& found)
      : joined_(joined(source, loosely)), text_(joined_.text), found_(found) {}

  void scan() {
    for (size_t at = text_.find('#'); at != kNpos; at = text_.find('#', at + 1)) directive(at, at + 1);
    for (size_t at = text_.find("%:"); at != kNpos; at = text_.find("%:", at + 2)) directive(at, at + 2);
  }

 private:
  // True if only blanks and comments precede a directive on its line; a comment of several lines may end there.
  bool first_on_line(size_t at) const {
    while (at > 0 && blank(text_[at - 1])) --at;
    return at == 0 || ends_line(text_[at - 1]) || text_.substr(0, at).ends_with("*/");
  }

  size_t behind_blanks(size_t at) const {
    for (;;) {
      while (at < text_.size() && blank(text_[at])) ++at;
      if (text_.substr(at, 2) != "/*") return at;
      if (at + 2 < comment_from_ || at + 2 > comment_end_) {  // otherwise it is the end found last
        comment_from_ = at + 2;
        comment_end_ = text_.find("*/", at + 2);
      }
      if (comment_end_ == kNpos) return text_.size();
      at = comment_end_ + 2;
    }
  }
  size_t end_of_line(size_t at) const { return std::min(text_.find_first_of("\n\r", at), text_.size()); }
  bool has(size_t at, char c) const { return at < text_.size() && text_[at] == c; }

  std::string_view word_at(size_t at) const {
    size_t end = at;
    while (end < text_.size() && in_word(text_[end])) ++end;
    return text_.substr(at, end - at);
  }

  void directive(size_t at, size_t behind) {
    if (!first_on_line(at)) return;
    const size_t start = behind_blanks(behind);
    const std::string_view word = word_at(start);
    const size_t next = behind_blanks(start + word.size());
    if (word == "include" || word == "include_next" || word == "import" || word == "embed")
      included(next);
    else if (word == "define")
      defined(next);
    else if (word == "if" || word == "elif")
      asked(next);
  }

  std::optional<IncludedName> literal(size_t open) const {
    if (!has(open, '"') && !has(open, '<')) return std::nullopt;
    const bool quoted = text_[open] == '"';
    const std::string_view rest = text_.substr(open + 1, kLongestName + 1);
    const size_t close = rest.find_first_of(quoted ? "\"\n\r" : ">\n\r");
    if (close == kNpos || ends_line(rest[close])) return std::nullopt;
    return IncludedName{std::string(rest.substr(0, close)), quoted, joined_.line_of(open)};
  }

  // The word in the parentheses that open at `open`; empty if there are none, or if they have more than one word.
  std::string_view in_parentheses(size_t open) const {
    if (!has(open, '(')) return {};
    const size_t start = behind_blanks(open + 1);
    const std::string_view word = word_at(start);
    return has(behind_blanks(start + word.size()), ')') ? word : std::string_view();
  }

  void included(size_t at) {
    if (auto name = literal(at))
      found_.names.push_back(std::move(*name));
    else if (const std::string_view macro = word_at(at); !macro.empty())
      computed(macro, in_parentheses(behind_blanks(at + macro.size())), at);
  }

  void computed(std::string_view macro, std::string_view argument, size_t at) {
    found_.computed.push_back({std::string(macro), std::string(argument), joined_.line_of(at)});
  }

  void defined(size_t at) {
    const std::string_view macro = word_at(at);
    const size_t behind = at + macro.size();
    const std::string_view parameter = in_parentheses(behind);
    const size_t body = parameter.empty() ? behind : text_.find(')', behind) + 1;
    if (auto name = literal(behind_blanks(body)))
      found_.macros.push_back({std::string(macro), std::string(parameter), std::move(*name)});
  }

  // Handles __has_include(<name>), a macro of it, and __has_include(HEADER).
  void asked(size_t at) {
    const std::string_view line = text_.substr(0, end_of_line(at));
    for (size_t open = line.find('(', at); open != kNpos; open = line.find('(', open + 1))
      if (auto name = literal(behind_blanks(open + 1))) found_.names.push_back(std::move(*name));
    constexpr std::string_view question = "__has_include";
    for (size_t q = line.find(question, at); q != kNpos; q = line.find(question, q + 1)) {
      const size_t open = behind_blanks(q + word_at(q).size());
      if (!has(open, '(')) continue;  // defined(__has_include) includes nothing
      const size_t start = behind_blanks(open + 1);
      const std::string_view macro = word_at(start);
      if (!macro.empty()) computed(macro, in_parentheses(behind_blanks(start + macro.size())), q);
    }
  }

  const Joined joined_;
  const std::string_view text_;
  ScannedIncludes& found_;
  mutable size_t comment_from_ = 1, comment_end_ = 0;  // the comment whose end was found last; at first none
};

// A backslash, blanks, the line's end: compilers differ on whether that joins lines, so both readings are scanned.
bool joins_loosely(std::string_view source) {
  for (size_t at = source.find('\\'); at != kNpos; at = source.find('\\', at + 1))
    if (at + 1 < source.size() && blank(source[at + 1]) && behind_join(source, at, true) != at) return true;
  return false;
}

}  // namespace

ScannedIncludes scan_includes(std::string_view source) {
  ScannedIncludes found;
  if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);  // a byte order mark
  Scanner(source, false, found).scan();
  if (joins_loosely(source)) Scanner(source, true, found).scan();
  return found;
}

bool leads_outside(const std::string& name) {
  const std::filesystem::path path = name;
  return path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
}

}  // namespace attnscope::compile
