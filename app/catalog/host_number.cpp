#include "catalog/host_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/number_literal.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

struct OneNumber {
  double value = 0;
  NumberKind kind = NumberKind::unknown;  // never as_written
};

NumberKind kind_of(bool floating) { return floating ? NumberKind::floating : NumberKind::whole; }

// What an operator gives: floating if one side is, otherwise unknown if one side is.
NumberKind common_kind(NumberKind a, NumberKind b) {
  if (a == b || a == NumberKind::floating || b == NumberKind::whole) return a;
  return b == NumberKind::floating || a == NumberKind::whole ? b : a;
}

bool is_floating_word(std::string_view word) { return word == "float" || word == "double" || word == "half"; }

bool is_type_of_number(std::string_view word) {
  static const std::set<std::string_view> types{"float",  "double",  "half",     "int",     "unsigned", "long", "short",
                                                "size_t", "int64_t", "uint64_t", "int32_t", "uint32_t", "const"};
  return types.contains(word);
}

class NumberParser {
 public:
  static constexpr int kDeepest = 8;      // names that stand for names
  static constexpr int kMostNested = 40;  // brackets and signs
  static constexpr int kMostSteps = 500;  // numbers and names, with those that they stand for
  static constexpr size_t kLongest = 500;
  NumberParser(const HostText& text, const HostScope& scope, int depth, int& steps)
      : at_in_source_(text.at), scope_(scope), depth_(depth), steps_(steps) {
    if (text.text.size() <= kLongest) tokens_ = cpp_tokens(text.text);
  }

  std::optional<OneNumber> whole() {
    const auto found = sum();
    return found && at_ == tokens_.size() ? found : std::nullopt;
  }

 private:
  bool is(std::string_view text) const { return at_ < tokens_.size() && tokens_[at_].is(text); }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }

  std::optional<OneNumber> sum() {
    auto left = product();
    while (left && (is("+") || is("-"))) {
      const bool minus = tokens_[at_++].is("-");
      const auto right = product();
      if (!right) return std::nullopt;
      left = OneNumber{minus ? left->value - right->value : left->value + right->value,
                       common_kind(left->kind, right->kind)};
    }
    return left;
  }

  std::optional<OneNumber> product() {
    auto left = one();
    while (left && (is("*") || is("/"))) {
      const bool over = tokens_[at_++].is("/");
      const auto right = one();
      if (!right || (over && right->value == 0)) return std::nullopt;
      const NumberKind kind = common_kind(left->kind, right->kind);
      const double value = over ? left->value / right->value : left->value * right->value;
      if (kind == NumberKind::unknown && value != std::trunc(value)) return std::nullopt;
      left = OneNumber{kind == NumberKind::whole ? std::trunc(value) : value, kind};
    }
    return left;
  }

  std::optional<OneNumber> one() {
    if (at_ >= tokens_.size() || --steps_ < 0 || nested_ == kMostNested) return std::nullopt;
    ++nested_;
    const auto found = signed_or_primary();
    --nested_;
    return found;
  }

  std::optional<OneNumber> signed_or_primary() {
    if (take("+")) return one();
    if (take("-")) {
      const auto value = one();
      return value ? std::optional(OneNumber{-value->value, value->kind}) : std::nullopt;
    }
    if (is("(") && at_ + 1 < tokens_.size() && is_type_of_number(tokens_[at_ + 1].text)) return cast(")");
    if (take("(")) {
      const auto value = sum();
      return value && take(")") ? value : std::nullopt;
    }
    const CppToken token = tokens_[at_++];
    if (token.kind == CppToken::Kind::number) return literal(token.text);
    if (token.kind != CppToken::Kind::word) return std::nullopt;
    std::string name(token.text), qualified;  // by the last name before it, which may be an enumeration's
    while (is(":") && at_ + 2 < tokens_.size() && tokens_[at_ + 1].is(":")) {
      qualified = name + "::" + std::string(tokens_[at_ + 2].text);
      name = tokens_[at_ + 2].text;
      at_ += 3;
    }
    if (name == "true" || name == "false") return OneNumber{name == "true" ? 1.0 : 0.0, NumberKind::whole};
    if (name == "static_cast" && is("<")) return cast(">");
    if (is("(")) return call(name);
    if (is(".") || is("[") || is("-")) {
      if (!is("-") || (at_ + 1 < tokens_.size() && tokens_[at_ + 1].is(">"))) return std::nullopt;
    }
    if (!qualified.empty() && (scope_.is_enum(qualified.substr(0, qualified.find(':'))) ||
                               !scope_.meaning(qualified, at_in_source_).text.empty()))
      name = qualified;
    const HostText meaning = scope_.meaning(name, at_in_source_);
    const bool itself = meaning.text == name && meaning.at == at_in_source_;
    const bool said = !meaning.text.empty() && !itself && depth_ > 0;
    const auto found = said ? NumberParser(meaning, scope_, depth_ - 1, steps_).whole() : std::nullopt;
    if (!found) {
      const auto size = scope_.size_now(name, at_in_source_);
      return size ? std::optional(OneNumber{static_cast<double>(*size), NumberKind::whole}) : std::nullopt;
    }
    if (meaning.kind == NumberKind::as_written) return found;
    if (meaning.kind != NumberKind::unknown) return of_type(found, meaning.kind == NumberKind::floating);
    return OneNumber{found->value, found->kind == NumberKind::whole ? NumberKind::unknown : found->kind};
  }

  // `(float)x` and `static_cast<float>(x)`, at the opening bracket.
  std::optional<OneNumber> cast(std::string_view close) {
    bool floating = false;
    for (++at_; at_ < tokens_.size() && !is(close); ++at_) {
      if (!is_type_of_number(tokens_[at_].text)) return std::nullopt;
      floating = floating || is_floating_word(tokens_[at_].text);
    }
    if (!take(close)) return std::nullopt;
    return of_type(one(), floating);
  }

  static std::optional<OneNumber> of_type(const std::optional<OneNumber>& value, bool floating) {
    if (!value) return value;
    return OneNumber{floating ? value->value : std::trunc(value->value), kind_of(floating)};
  }

  std::optional<OneNumber> call(const std::string& name) {
    using Function = double (*)(double);
    static const std::map<std::string_view, Function> functions{
        {"sqrt", [](double x) { return std::sqrt(x); }},      {"sqrtf", [](double x) { return std::sqrt(x); }},
        {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}, {"rsqrtf", [](double x) { return 1 / std::sqrt(x); }},
        {"exp", [](double x) { return std::exp(x); }},        {"expf", [](double x) { return std::exp(x); }},
        {"log", [](double x) { return std::log(x); }},        {"logf", [](double x) { return std::log(x); }},
        {"log2", [](double x) { return std::log2(x); }},      {"log2f", [](double x) { return std::log2(x); }},
        {"fabs", [](double x) { return std::abs(x); }},       {"fabsf", [](double x) { return std::abs(x); }}};
    take("(");
    const auto value = sum();
    if (!value || !take(")")) return std::nullopt;
    if (is_type_of_number(name)) return of_type(value, is_floating_word(name));
    const auto function = functions.find(name);
    if (function == functions.end()) return std::nullopt;
    return OneNumber{function->second(value->value), NumberKind::floating};
  }

  static std::optional<OneNumber> literal(std::string_view text) {
    std::string digits(text);
    std::erase(digits, '\'');
    const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    if (hexadecimal) return std::nullopt;  // a floating one would need its own reading
    if (is_octal(digits)) return std::nullopt;
    const bool floating = digits.find_first_of(".eEfF") != std::string::npos;
    digits = without_suffix(std::move(digits));
    double value = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, value);
    if (digits.empty() || error != std::errc() || end != last) return std::nullopt;
    return OneNumber{value, kind_of(floating)};
  }

  std::vector<CppToken> tokens_;
  const size_t at_in_source_;
  const HostScope& scope_;
  const int depth_;
  int& steps_;
  size_t at_ = 0;
  int nested_ = 0;
};

}  // namespace

std::optional<double> host_number(const HostText& expression, const HostScope& scope) {
  int steps = NumberParser::kMostSteps;
  const auto found = NumberParser(expression, scope, NumberParser::kDeepest, steps).whole();
  return found && std::isfinite(found->value) ? std::optional(found->value) : std::nullopt;
}

}  // namespace attnscope::catalog
