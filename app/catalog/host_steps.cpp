#include "catalog/host_steps.h"

#include <algorithm>
#include <utility>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

using TokenKind = CppToken::Kind;

constexpr int kDeepestStatement = 100;  // nested statements
constexpr size_t kMostBranches = 8;     // nested conditions
constexpr size_t kMostArguments = 600;  // tokens of a call's arguments, or of a condition
constexpr size_t kLongestCondition = 2000;

class Walker {
 public:
  Walker(std::string_view source, const HostFunction& function)
      : begin_(function.begin),
        tokens_(cpp_tokens(source.substr(function.begin, function.end + 1 - function.begin))),
        brackets_(tokens_) {}

  std::vector<HostStep> walk() {
    if (!tokens_.empty() && tokens_[0].is("{")) block(0);
    return std::move(steps_);
  }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::word; }
  bool done() const { return returned_ || steps_.size() >= kMostHostSteps; }
  size_t closing(size_t open) const { return std::min(brackets_.closing(open), tokens_.size()); }

  // Adds a condition to the steps read during its lifetime.
  class Around {
   public:
    Around(Walker& walker, std::string what) : walker_(walker), before_(walker.unclear_) {
      if (walker.unclear_.empty()) walker.unclear_ = std::move(what);
    }
    ~Around() { walker_.unclear_ = before_; }
    Around(const Around&) = delete;
    Around& operator=(const Around&) = delete;

   private:
    Walker& walker_;
    std::string before_;
  };

  // Reads the statements in the braces at `open`; returns the index after them.
  size_t block(size_t open) {
    const size_t close = closing(open);
    for (size_t i = open + 1; i < close && !done();) i = statement(i, close);
    return close + 1;
  }

  // Returns the index after the statement at i, which ends before `end`.
  size_t statement(size_t i, size_t end) {
    if (i >= end || done()) return end;
    if (tokens_[i].kind == TokenKind::line) return preprocessor(i);
    if (depth_ == kDeepestStatement) return expression(i, end, "code nested too deeply");
    ++depth_;
    const size_t behind = compound(i, end);
    --depth_;
    return behind;
  }

  size_t compound(size_t i, size_t end) {
    if (is(i, "{")) return block(i);
    if (is(i, "for") || is(i, "while")) {
      const Around loop(*this, "a loop");
      return head_and_body(i, end);
    }
    if (is(i, "switch")) {
      const Around cases(*this, "a switch");
      return head_and_body(i, end);
    }
    if (is(i, "do")) {
      size_t behind = 0;
      {
        const Around loop(*this, "a loop");
        behind = statement(i + 1, end);
      }
      return expression(behind, end, "");  // while (…);
    }
    if (is(i, "if")) return condition(i, end);
    if (is(i, "return")) {
      const size_t behind = expression(i, end, "");
      if (!done()) add("return", i, false);
      returned_ = returned_ || (branches_.empty() && unclear_.empty() && conditions_.empty());
      return behind;
    }
    return expression(i, end, "");
  }

  size_t head_and_body(size_t i, size_t end) {
    if (!is(i + 1, "(")) return expression(i, end, "");
    calls(i + 1, closing(i + 1));
    return statement(closing(i + 1) + 1, end);
  }

  size_t condition(size_t i, size_t end) {
    const size_t open = is(i + 1, "constexpr") ? i + 2 : i + 1;
    if (!is(open, "(")) return expression(i, end, "");
    const size_t close = closing(open);
    calls(open, close);
    const Around deep(*this, branches_.size() == kMostBranches ? "conditions nested too deeply" : "");
    const auto parts = close - open < kMostArguments ? parts_in(tokens_, brackets_, open) : std::vector<std::string>();
    branches_.push_back(
        {parts.size() == 1 && parts[0].size() <= kLongestCondition ? parts[0] : "", true, begin_ + tokens_[open].at});
    size_t behind = statement(close + 1, end);
    if (is(behind, "else") && behind < end) {
      branches_.back().holds = false;
      behind = statement(behind + 1, end);
    }
    branches_.pop_back();
    return behind;
  }

  // Reads up to the semicolon outside brackets.
  size_t expression(size_t i, size_t end, const std::string& unclear) {
    const Around around(*this, unclear);
    size_t behind = i;
    while (behind < end && !is(behind, ";")) {
      const bool opens = is(behind, "(") || is(behind, "[") || is(behind, "{");
      behind = opens ? closing(behind) + 1 : behind + 1;
    }
    calls(i, std::min(behind, end));
    return std::max(std::min(behind, end) + 1, i + 1);
  }

  // Reads the calls and launches among these tokens. Statements in braces belong to a lambda, or to text that is not
  // understood.
  void calls(size_t begin, size_t end) {
    size_t braces = 0;
    for (size_t i = begin; i < end && !done(); ++i) {
      if (tokens_[i].kind == TokenKind::line) preprocessor(i);
      if (is(i, "{")) braces = std::max(braces, closing(i));
      if (is(i, "<") && is(i + 1, "<") && is(i + 2, "<")) {
        add({}, i, braces > i);
        i += 2;
      } else if (is(i, "(") && i > begin && word(i - 1) && !is(i - 1, "return")) {
        add(std::string(tokens_[i - 1].text), i, braces > i);
      } else if (word(i) && is(i + 1, "<") && is(brackets_.behind_angles(i + 1), "(") &&
                 !tokens_[i].text.ends_with("_cast")) {  // f<256>(…)
        add(std::string(tokens_[i].text), brackets_.behind_angles(i + 1), braces > i);
      }
    }
  }

  void add(std::string name, size_t i, bool in_braces) {
    HostStep step;
    step.at = begin_ + tokens_[i].at;
    if (is(i, "(") && closing(i) - i < kMostArguments) step.arguments = parts_in(tokens_, brackets_, i);
    if (name.ends_with("_") && i > 2 && is(i - 2, ".") && word(i - 3))  // x.zero_() changes x
      step.arguments.emplace_back(tokens_[i - 3].text);
    step.name = std::move(name);
    step.branches = branches_;
    step.unclear = !unclear_.empty()     ? unclear_
                   : in_braces           ? "a lambda"
                   : conditions_.empty() ? ""
                                         : conditions_.back();
    steps_.push_back(std::move(step));
  }

  size_t preprocessor(size_t i) {
    const std::vector<CppToken> inner = cpp_tokens(tokens_[i].text.substr(1));
    if (inner.empty()) return i + 1;
    if (inner[0].is("if") || inner[0].is("ifdef") || inner[0].is("ifndef"))
      conditions_.emplace_back(tokens_[i].text.substr(0, tokens_[i].text.find_first_of("\r\n")));
    if (inner[0].is("endif") && !conditions_.empty()) conditions_.pop_back();
    return i + 1;
  }

  size_t begin_;
  std::vector<CppToken> tokens_;
  CppBrackets brackets_;
  std::vector<HostStep> steps_;
  std::vector<SourceBranch> branches_;   // the open ones
  std::vector<std::string> conditions_;  // the open #ifs
  std::string unclear_;
  int depth_ = 0;
  bool returned_ = false;
};

}  // namespace

std::vector<HostStep> host_steps(std::string_view source, const HostFunction& function) {
  return Walker(source, function).walk();
}

}  // namespace attnscope::catalog
