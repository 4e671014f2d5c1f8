#include "catalog/conditional_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "core/text.h"

namespace attnscope::catalog {
namespace {

using MacroTexts = std::map<std::string, std::string>;

// A preprocessor's condition; empty if it contains something that is not read.
class ConditionValue {
 public:
  static constexpr int kDeepest = 16;                      // macros of macros
  static constexpr int kMostSteps = 200;                   // names, numbers and operators, with those of its macros
  enum class Unknown : uint8_t { is_zero, has_no_value };  // a name that is not a macro
  // `steps` are left for it and for the macros in it.
  ConditionValue(std::string_view text, const MacroTexts& macros, Unknown unknown, int depth, int& steps)
      : tokens_(cpp_tokens(text)), macros_(macros), unknown_(unknown), depth_(depth), steps_(steps) {}

  std::optional<int64_t> value() {
    const auto found = any();
    return at_ == tokens_.size() ? found : std::nullopt;
  }

 private:
  bool is(size_t at, std::string_view mark) const { return at < tokens_.size() && tokens_[at].is(mark); }
  bool take(std::string_view mark) {
    if (!is(at_, mark)) return false;
    ++at_;
    return true;
  }
  bool take_twice(std::string_view mark) {
    if (!is(at_, mark) || !is(at_ + 1, mark)) return false;
    at_ += 2;
    return true;
  }

  std::optional<int64_t> any() {
    auto left = all();
    while (left && take_twice("|")) {
      const auto right = all();
      left = right ? std::optional<int64_t>(*left != 0 || *right != 0) : std::nullopt;
    }
    return left;
  }
  std::optional<int64_t> all() {
    auto left = compared();
    while (left && take_twice("&")) {
      const auto right = compared();
      left = right ? std::optional<int64_t>(*left != 0 && *right != 0) : std::nullopt;
    }
    return left;
  }
  std::optional<int64_t> compared() {
    const auto left = one();
    if (!left) return left;
    if (take_twice("=")) return with(*left, [](int64_t a, int64_t b) { return a == b; });
    if (is(at_, "!") && is(at_ + 1, "=")) {
      at_ += 2;
      return with(*left, [](int64_t a, int64_t b) { return a != b; });
    }
    if (!is(at_, "<") && !is(at_, ">")) return left;
    const bool less = tokens_[at_++].is("<"), equal = take("=");
    return with(*left, [&](int64_t a, int64_t b) { return (less ? a < b : a > b) || (equal && a == b); });
  }
  template <class Compare>
  std::optional<int64_t> with(int64_t left, Compare compare) {
    const auto right = one();
    return right ? std::optional<int64_t>(compare(left, *right)) : std::nullopt;
  }

  std::optional<int64_t> one() {
    if (at_ >= tokens_.size() || --steps_ < 0) return std::nullopt;
    if (take("!")) {
      const auto value = one();
      return value ? std::optional<int64_t>(*value == 0) : std::nullopt;
    }
    if (take("(")) {
      const auto value = any();
      return value && take(")") ? value : std::nullopt;
    }
    const CppToken token = tokens_[at_++];
    if (token.kind == CppToken::Kind::number) return number_of<int64_t>(token.text);
    if (token.kind != CppToken::Kind::word) return std::nullopt;
    if (token.is("defined")) {
      const bool open = take("(");
      if (at_ >= tokens_.size()) return std::nullopt;
      const bool known = macros_.contains(std::string(tokens_[at_++].text));
      if (!known && unknown_ == Unknown::has_no_value) return std::nullopt;
      return !open || take(")") ? std::optional<int64_t>(known) : std::nullopt;
    }
    const auto macro = macros_.find(std::string(token.text));
    if (macro == macros_.end())  // the preprocessor takes it as 0
      return unknown_ == Unknown::is_zero ? std::optional<int64_t>(0) : std::nullopt;
    return depth_ > 0 ? ConditionValue(macro->second, macros_, unknown_, depth_ - 1, steps_).value() : std::nullopt;
  }

  const std::vector<CppToken> tokens_;
  const MacroTexts& macros_;
  const Unknown unknown_;
  const int depth_;
  int& steps_;
  size_t at_ = 0;
};

}  // namespace

void OpenConditions::read(std::string_view line, const MacroTexts& macros) {
  const std::vector<CppToken> words = cpp_tokens(line);
  if (words.empty()) return;
  const std::string_view rest = line.substr(words[0].end());
  const auto holds = [&] {
    int steps = ConditionValue::kMostSteps;
    return ConditionValue(rest, macros, ConditionValue::Unknown::is_zero, ConditionValue::kDeepest, steps)
               .value()
               .value_or(1) != 0;
  };
  const auto is_macro = [&] { return words.size() > 1 && macros.contains(std::string(words[1].text)); };
  if (words[0].is("if") || words[0].is("ifdef") || words[0].is("ifndef")) {
    const bool value = words[0].is("if") ? holds() : words[0].is("ifdef") ? is_macro() : !is_macro();
    open_.push_back({value, value});
  } else if (open_.empty()) {
    return;
  } else if (words[0].is("else") || words[0].is("elif")) {
    Branch& last = open_.back();
    last.kept = !last.taken && (words[0].is("else") || holds());
    last.taken = last.taken || last.kept;
  } else if (words[0].is("endif")) {
    open_.pop_back();
  }
}

namespace {

constexpr size_t kLongestMacro = 200;  // bytes; each condition that names a macro reads its text

bool is_condition(const std::vector<CppToken>& words) {
  static constexpr std::string_view all[] = {"if", "ifdef", "ifndef", "elif", "else", "endif"};
  return !words.empty() && std::ranges::find(all, words[0].text) != std::end(all);
}

// The conditions of a text as far as its own definitions decide them.
class OwnConditions {
 public:
  // The words of a preprocessor's line without its #.
  void read(const std::vector<CppToken>& words, std::string_view line) {
    if (words.empty()) return;
    if (words[0].is("define") || words[0].is("undef")) {
      if (words.size() > 1) define(words, line);
    } else if (words[0].is("if") || words[0].is("ifdef") || words[0].is("ifndef")) {
      open_.push_back({Answer::no, Answer::no});
      count(Answer::no, 1);
      turn(value_of(words, line));
    } else if (open_.empty()) {
      return;
    } else if (words[0].is("else") || words[0].is("elif")) {
      turn(words[0].is("else") ? Answer::yes : value_of(words, line));
    } else if (words[0].is("endif")) {
      count(open_.back().here, -1);
      open_.pop_back();
    }
  }

  bool excluded() const { return excluding_ > 0; }

 private:
  enum class Answer : uint8_t { no, unknown, yes };
  struct Branch {
    Answer here, before;  // whether its text is compiled, and whether that of an earlier branch is
  };

  void count(Answer here, int by) {
    excluding_ += here == Answer::no ? by : 0;
    unsure_branches_ += here == Answer::unknown ? by : 0;
  }

  // The next branch of the innermost condition begins, whose own condition has this answer.
  void turn(Answer own) {
    Branch& last = open_.back();
    count(last.here, -1);
    last.here = last.before == Answer::yes  ? Answer::no
                : last.before == Answer::no ? own
                                            : std::min(own, Answer::unknown);
    count(last.here, 1);
    last.before = std::max(last.before, own);
  }

  void define(const std::vector<CppToken>& words, std::string_view line) {
    if (excluded()) return;
    const std::string name(words[1].text);
    const std::string_view text = line.substr(words[1].end());
    const bool sure = unsure_branches_ == 0 && text.size() <= kLongestMacro;
    own_.erase(name);
    if (words[0].is("undef") || !sure) unsure_.insert(name);
    if (words[0].is("define") && sure && !unsure_.contains(name)) own_[name] = std::string(text);
  }

  Answer value_of(const std::vector<CppToken>& words, std::string_view line) const {
    if (words.size() < 2) return Answer::unknown;
    if (words[0].is("ifdef") || words[0].is("ifndef"))
      return !own_.contains(std::string(words[1].text)) ? Answer::unknown
             : words[0].is("ifdef")                     ? Answer::yes
                                                        : Answer::no;
    int steps = ConditionValue::kMostSteps;
    const auto value = ConditionValue(line.substr(words[0].end()), own_, ConditionValue::Unknown::has_no_value,
                                      ConditionValue::kDeepest, steps)
                           .value();
    return !value ? Answer::unknown : *value != 0 ? Answer::yes : Answer::no;
  }

  std::vector<Branch> open_;
  int excluding_ = 0, unsure_branches_ = 0;  // of open_
  MacroTexts own_;
  std::set<std::string> unsure_;  // may be defined from outside, or otherwise
};

}  // namespace

std::string without_excluded(std::string text) {
  if (text.find('#') == std::string::npos) return text;
  const std::string source = text;
  OwnConditions conditions;
  for (const CppToken& token : cpp_tokens(source)) {
    bool kept_line = false;
    if (token.kind == CppToken::Kind::line) {
      const std::vector<CppToken> words = cpp_tokens(token.text.substr(1));
      conditions.read(words, token.text.substr(1));
      kept_line = is_condition(words);
    }
    if (!kept_line && conditions.excluded())
      std::replace_if(
          text.begin() + static_cast<ptrdiff_t>(token.at), text.begin() + static_cast<ptrdiff_t>(token.end()),
          [](char c) { return c != '\n' && c != '\r'; }, ' ');
  }
  return text;
}

bool OpenConditions::kept() const { return std::ranges::all_of(open_, &Branch::kept); }

std::vector<CppToken> compiled_tokens(const std::vector<CppToken>& tokens, size_t begin, size_t end,
                                      const MacroTexts& macros) {
  std::vector<CppToken> kept;
  OpenConditions open;
  for (size_t i = begin; i < std::min(end, tokens.size()); ++i) {
    if (tokens[i].kind == CppToken::Kind::line)
      open.read(tokens[i].text.substr(1), macros);
    else if (open.kept())
      kept.push_back(tokens[i]);
  }
  return kept;
}

}  // namespace attnscope::catalog
