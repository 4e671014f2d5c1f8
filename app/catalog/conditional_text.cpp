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

// A preprocessor's condition; empty if it has something that is not read.
class ConditionValue {
 public:
  static constexpr int kDeepest = 16;     // macros of macros
  static constexpr int kMostSteps = 200;  // names, numbers and operators, with those of its macros
  // `steps` are left for it and for the macros in it.
  ConditionValue(std::string_view text, const MacroTexts& macros, int depth, int& steps)
      : tokens_(cpp_tokens(text)), macros_(macros), depth_(depth), steps_(steps) {}

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
      return !open || take(")") ? std::optional<int64_t>(known) : std::nullopt;
    }
    const auto macro = macros_.find(std::string(token.text));
    if (macro == macros_.end()) return 0;  // as the preprocessor takes a name that is no macro
    return depth_ > 0 ? ConditionValue(macro->second, macros_, depth_ - 1, steps_).value() : std::nullopt;
  }

  const std::vector<CppToken> tokens_;
  const MacroTexts& macros_;
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
    return ConditionValue(rest, macros, ConditionValue::kDeepest, steps).value().value_or(1) != 0;
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

// The conditions of a text as far as its own definitions decide them.
class OwnConditions {
 public:
  // A preprocessor's line without its #.
  void read(std::string_view line) {
    const std::vector<CppToken> words = cpp_tokens(line);
    if (words.empty()) return;
    const bool opens = words[0].is("if") || words[0].is("ifdef") || words[0].is("ifndef");
    if (words[0].is("define") || words[0].is("undef")) {
      if (words.size() > 1) define(words, line);
    } else if (opens) {
      open_.push_back({Answer::no, Answer::no});
      turn(value_of(words, line));
    } else if (open_.empty()) {
      return;
    } else if (words[0].is("else") || words[0].is("elif")) {
      turn(words[0].is("else") ? Answer::yes : value_of(words, line));
    } else if (words[0].is("endif")) {
      open_.pop_back();
    }
  }

  bool excluded() const {
    return std::ranges::any_of(open_, [](const Branch& one) { return one.here == Answer::no; });
  }

 private:
  enum class Answer : uint8_t { no, unknown, yes };
  struct Branch {
    Answer here, before;  // whether its text is compiled, and whether that of an earlier branch is
  };

  // The next branch of the innermost condition begins, whose own condition has this answer.
  void turn(Answer own) {
    Branch& last = open_.back();
    last.here = last.before == Answer::yes  ? Answer::no
                : last.before == Answer::no ? own
                                            : std::min(own, Answer::unknown);
    last.before = std::max(last.before, own);
  }

  void define(const std::vector<CppToken>& words, std::string_view line) {
    if (excluded()) return;
    const std::string name(words[1].text);
    const bool sure = std::ranges::all_of(open_, [](const Branch& one) { return one.here == Answer::yes; });
    own_.erase(name);
    if (words[0].is("undef") || !sure) unsure_.insert(name);
    if (words[0].is("define") && sure && !unsure_.contains(name)) own_[name] = std::string(line.substr(words[1].end()));
  }

  Answer value_of(const std::vector<CppToken>& words, std::string_view line) const {
    const auto known = [&](const CppToken& one) {
      return one.kind != CppToken::Kind::word || one.is("defined") || own_.contains(std::string(one.text));
    };
    if (words.size() < 2 || !std::ranges::all_of(words.begin() + 1, words.end(), known)) return Answer::unknown;
    if (!words[0].is("if") && !words[0].is("elif")) return words[0].is("ifdef") ? Answer::yes : Answer::no;
    int steps = ConditionValue::kMostSteps;
    const auto value = ConditionValue(line.substr(words[0].end()), own_, ConditionValue::kDeepest, steps).value();
    return !value ? Answer::unknown : *value != 0 ? Answer::yes : Answer::no;
  }

  std::vector<Branch> open_;
  MacroTexts own_;
  std::set<std::string> unsure_;  // may be defined from outside, or otherwise
};

}  // namespace

std::string without_excluded(std::string text) {
  if (text.find('#') == std::string::npos) return text;
  const std::string source = text;
  OwnConditions conditions;
  for (const CppToken& token : cpp_tokens(source)) {
    if (token.kind == CppToken::Kind::line)
      conditions.read(token.text.substr(1));
    else if (conditions.excluded())
      std::ranges::replace_if(
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
