#include <cctype>
#include <optional>

#include "charts/code_diff.h"
#include "core/code_file.h"
#include "core/expression.h"

namespace attnscope::charts {
namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The line without its comment, as far as one line shows.
std::string_view without_comment(std::string_view text) {
  return trimmed(text.substr(0, std::min(text.find("//"), text.find("/*"))));
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// Calls visit(word) for each identifier outside quotes and other(character) for everything else.
template <class Visit, class Other>
void each_word(std::string_view text, Visit visit, Other other) {
  char quote = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (quote != 0) {
      other(c);
      if (c == '\\' && at + 1 < text.size()) other(text[++at]);
      if (c == quote) quote = 0;
      ++at;
    } else if (starts_word(c) && (at == 0 || !is_word(text[at - 1]))) {
      size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      visit(text.substr(at, end - at));
      at = end;
    } else {
      if (text.substr(at).starts_with("//")) {  // words in a comment are not replaced
        for (; at < text.size(); ++at) other(text[at]);
        return;
      }
      if (c == '"' || c == '\'') quote = c;
      other(c);
      ++at;
    }
  }
}

class Preprocessor {
 public:
  explicit Preprocessor(const std::map<std::string, int64_t>& macros) : macros_(macros) {
    for (const auto& [name, value] : macros) numbers_[name] = double(value);
  }

  void take(std::string_view line, int64_t number) {
    std::string_view rest = trimmed(line);
    if (!rest.starts_with('#')) {
      if (active()) out.push_back({number, with_values(line)});
      return;
    }
    rest.remove_prefix(1);
    const std::string_view what = take_word(rest);
    const std::string_view words = without_comment(rest);
    if (what == "if")
      open_.push_back(condition(words));
    else if (what == "ifdef" || what == "ifndef")
      open_.push_back(Branch::of(known(words) == (what == "ifdef")));
    else if ((what == "elif" || what == "else") && !open_.empty())
      next_branch(what == "else" ? Branch::of(true) : condition(words));
    else if (what == "endif" && !open_.empty())
      open_.pop_back();
    else if (what == "elif" || what == "else" || what == "endif")
      return;  // not part of a conditional
    else if (active()) {
      if (what == "define") define(words);
      out.push_back({number, std::string(line)});
    }
  }

  std::vector<SourceLine> out;

 private:
  struct Branch {
    bool taken = true;  // the branch's lines are kept
    bool over = false;  // this branch or an earlier one is certainly taken
    static Branch of(bool holds) { return {holds, holds}; }
  };

  bool active() const {
    for (const Branch& branch : open_)
      if (!branch.taken) return false;
    return true;
  }
  bool known(std::string_view name) const { return numbers_.contains(std::string(name)) || names_.contains(name); }

  // A condition that cannot be decided is taken, and so are the branches after it.
  Branch condition(std::string_view words) const {
    std::string text;
    bool after_defined = false;
    each_word(
        words,
        [&](std::string_view word) {
          if (word == "defined") {
            after_defined = true;
          } else if (std::exchange(after_defined, false)) {
            text += known(word) ? "1" : "0";
          } else {
            text += word;
          }
        },
        [&](char c) { text += c; });
    const auto holds = attnscope::holds(text, numbers_, "condition");
    return holds ? Branch::of(*holds) : Branch{true, false};
  }

  void next_branch(Branch next) {
    Branch& last = open_.back();
    last = last.over ? Branch{false, true} : next;
  }

  void define(std::string_view words) {
    const std::string name(take_word(words));
    names_.insert({name, 0});
    if (words.empty() || words.front() == '(' || numbers_.contains(name)) return;
    if (const auto value = evaluate_real(std::string(trimmed(words)), numbers_, name)) numbers_[name] = *value;
  }

  std::string with_values(std::string_view line) const {
    std::string text;
    each_word(
        line,
        [&](std::string_view word) {
          const auto macro = macros_.find(std::string(word));
          text += macro == macros_.end() ? std::string(word) : std::to_string(macro->second);
        },
        [&](char c) { text += c; });
    return text;
  }

  const std::map<std::string, int64_t>& macros_;
  Variables numbers_;                              // the macros, and numbers that the source defines
  std::map<std::string, int, std::less<>> names_;  // everything that the source defines
  std::vector<Branch> open_;
};

}  // namespace

std::vector<SourceLine> preprocessed(std::string_view source, const std::map<std::string, int64_t>& macros) {
  if (is_machine_code(source)) return {};
  Preprocessor lines(macros);
  for (int64_t number = 1; !source.empty(); ++number) {
    const size_t end = source.find('\n');
    std::string_view line = source.substr(0, end);
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.take(line, number);
  }
  return std::move(lines.out);
}

}  // namespace attnscope::charts
