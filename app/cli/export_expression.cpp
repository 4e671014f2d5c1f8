#include "cli/export_expression.h"

#include <array>
#include <cctype>
#include <vector>

#include "core/joined.h"

namespace attnscope::cli {
namespace {

// Operators of one precedence level, lowest level first, as in muParser.
using Operators = std::vector<std::string>;
const std::array<Operators, 5> kLevels{Operators{"||"}, Operators{"&&"}, Operators{"<=", ">=", "!=", "==", "<", ">"},
                                       Operators{"+", "-"}, Operators{"*", "/", "%"}};

// Recursive descent. Every compound part gets parentheses, so that the target language's precedence does not matter.
class Writer {
 public:
  Writer(Language language, const std::string& text, const std::map<std::string, int64_t>& constants)
      : language_(language), text_(text), constants_(constants) {}

  Result<std::string> whole() {
    std::string out = ternary();
    blanks();
    if (!wrong_ && at_ == text_.size()) return out;
    return fail(Stage::internal, "\"" + text_ + "\" is not an expression at character " + std::to_string(at_ + 1),
                "Report this.");
  }

 private:
  bool python() const { return language_ == Language::python; }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(const std::string& word) {
    blanks();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  bool take_any(const Operators& words, std::string& found) {
    for (const std::string& word : words)
      if (take(word)) {
        found = word;
        return true;
      }
    return false;
  }
  std::string spelt(const std::string& op) const {
    if (!python()) return op;
    return op == "||" ? "or" : op == "&&" ? "and" : op == "/" ? "//" : op;
  }

  std::string ternary() {
    std::string condition = binary(0);
    if (!take("?")) return condition;
    const std::string yes = ternary();
    if (!take(":")) wrong_ = true;
    const std::string no = ternary();
    return python() ? "(" + yes + " if " + condition + " else " + no + ")"
                    : "(" + condition + " ? " + yes + " : " + no + ")";
  }

  std::string binary(size_t level) {
    if (level == kLevels.size()) return unary();
    std::string left = binary(level + 1);
    for (std::string op; take_any(kLevels[level], op);)
      left = "(" + left + " " + spelt(op) + " " + binary(level + 1) + ")";
    return left;
  }

  std::string unary() {
    if (take("-")) return "(-" + unary() + ")";
    if (take("+")) return unary();
    if (take("!")) return python() ? "(not " + unary() + ")" : "(!" + unary() + ")";
    return primary();
  }

  std::string primary() {
    if (++depth_ > 200) wrong_ = true;
    if (wrong_) return "";
    if (take("(")) {
      const std::string inner = ternary();
      if (!take(")")) wrong_ = true;
      return inner;
    }
    std::string word;
    blanks();
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      word += text_[at_++];
    if (word.empty()) wrong_ = true;
    if (!wrong_ && take("(")) return call(word);
    const auto constant = constants_.find(word);
    return constant == constants_.end() ? word : std::to_string(constant->second);
  }

  std::string call(const std::string& name) {
    std::vector<std::string> arguments{ternary()};
    while (take(",")) arguments.push_back(ternary());
    if (!take(")")) wrong_ = true;
    const bool variadic = name == "min" || name == "max";
    if (!variadic && name != "ceil_div") wrong_ = true;
    const std::string list = joined(arguments);
    if (python() || !variadic) return name + "(" + list + ")";
    return "std::" + name + "<int64_t>({" + list + "})";
  }

  Language language_;
  const std::string& text_;
  const std::map<std::string, int64_t>& constants_;
  size_t at_ = 0;
  int depth_ = 0;
  bool wrong_ = false;
};

}  // namespace

Result<std::string> expression_in(Language language, const std::string& expression,
                                  const std::map<std::string, int64_t>& constants) {
  return Writer(language, expression, constants).whole();
}

}  // namespace attnscope::cli
