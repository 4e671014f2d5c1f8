#include "catalog/host_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "catalog/host_sum.h"
#include "catalog/host_words.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr int kDeepestNames = 16;               // names that stand for names
constexpr int kMostNested = 100;                // nested brackets, consecutive signs
constexpr size_t kLongest = 10000;              // bytes of an expression in the host code
constexpr size_t kLongestPart = 2000;           // bytes of a part in a manifest, which accepts no longer one
constexpr int kMostTokens = 10000;              // of an expression and everything that its names stand for
constexpr int64_t kLargest = int64_t{1} << 53;  // larger results are refused

class Parser {
 public:
  Parser(const HostNames& names, int depth, int& tokens_left, std::string* unknown)
      : names_(names), depth_(depth), tokens_left_(tokens_left), unknown_(unknown) {}

  std::optional<HostSum> whole(const HostText& host) {
    const std::string& expression = host.text;
    used_at_ = host.at;
    if (depth_ > kDeepestNames || expression.size() > kLongest) return std::nullopt;
    tokens_ = cpp_tokens(expression);
    tokens_left_ -= static_cast<int>(tokens_.size());
    if (tokens_.empty() || tokens_left_ < 0) return std::nullopt;
    brackets_.emplace(tokens_);
    auto value = choice();
    if (at_ != tokens_.size()) return std::nullopt;
    return value;
  }

 private:
  bool is(std::string_view text) const { return at_ < tokens_.size() && tokens_[at_].is(text); }
  bool is_next(std::string_view text) const { return at_ + 1 < tokens_.size() && tokens_[at_ + 1].is(text); }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  static std::optional<HostSum> in_range(HostSum value) {
    if (value.now > kLargest || value.now < -kLargest) return std::nullopt;
    return value;
  }
  // A name that contains itself would double at each step.
  static std::optional<HostSum> short_enough(HostSum value) {
    if (!value.parts.empty() && value.parts.back().second.size() > kLongestPart) return std::nullopt;
    return value;
  }

  // condition ? a : b
  std::optional<HostSum> choice() {
    if (nested_ == kMostNested) return std::nullopt;
    ++nested_;
    auto condition = logical(true);
    --nested_;
    if (!condition || !take("?")) return condition;
    if (condition->constant()) return decided(condition->number != 0);
    const auto yes = choice();
    if (!yes || !take(":")) return std::nullopt;
    const auto no = choice();
    if (!no) return std::nullopt;
    return short_enough(HostSum::of(fmt::format("({} ? {} : {})", condition->text(), yes->text(), no->text()),
                                    condition->now != 0 ? yes->now : no->now));
  }

  // The branch that is taken; the other may name what is not known: (argc > 1) ? atoi(argv[1]) : 256.
  std::optional<HostSum> decided(bool first) {
    if (!first) {
      skip_branch();
      return take(":") ? choice() : std::nullopt;
    }
    const auto yes = choice();
    if (!yes || !take(":")) return std::nullopt;
    skip_branch();
    return yes;
  }

  void skip_branch() {
    for (int inner = 0; at_ < tokens_.size(); ++at_) {  // inner: ?: within the branch
      if (is("(") || is("[") || is("{")) {
        at_ = std::min(brackets_->closing(at_), tokens_.size() - 1);
      } else if (is(":") && is_next(":")) {
        ++at_;
      } else if (is(")") || is(",") || (is(":") && inner-- == 0)) {
        return;
      } else if (is("?")) {
        ++inner;
      }
    }
  }

  static HostSum truth(const char* op, const HostSum& a, const HostSum& b, bool now) {
    if (a.constant() && b.constant()) return HostSum::whole(now);
    return HostSum::of(fmt::format("({} {} {})", a.factor(), op, b.factor()), now);
  }

  // `any`: ||, otherwise &&.
  std::optional<HostSum> logical(bool any) {
    const char* op = any ? "||" : "&&";
    auto left = any ? logical(false) : masked();
    while (left && is(any ? "|" : "&") && is_next(any ? "|" : "&")) {
      at_ += 2;
      const auto right = any ? logical(false) : masked();
      if (!right) return std::nullopt;
      const bool a = left->now != 0, b = right->now != 0;
      left = short_enough(truth(op, *left, *right, any ? a || b : a && b));
    }
    return left;
  }

  // x & ~63 is x rounded down to a multiple of 64, and x & 63 is the remainder. Other masks are accepted only on
  // numbers.
  std::optional<HostSum> masked() {
    auto left = comparison();
    while (left && is("&") && !is_next("&")) {
      ++at_;
      const auto mask = comparison();
      if (!mask || !mask->constant()) return std::nullopt;
      const int64_t bits = mask->number, low = bits < 0 ? ~bits : bits;
      if (left->constant()) {
        left = HostSum::whole(left->number & bits);
      } else if ((low & (low + 1)) != 0 || left->now < 0) {
        return std::nullopt;
      } else {
        const HostSum unit = HostSum::whole(low + 1);
        const auto whole = bits < 0 ? rounded_up(*left, unit) : std::nullopt;
        left = bits >= 0 ? rest(*left, unit) : whole ? times(*whole, unit) : rounded_down(*left, unit);
      }
    }
    return left;
  }

  static std::optional<HostSum> rounded_down(const HostSum& a, const HostSum& unit) {
    return short_enough(
        HostSum::of(fmt::format("({} - {} % {})", a.text(), a.factor(), unit.text()), a.now - a.now % unit.now));
  }

  std::optional<HostSum> comparison() {
    auto left = sum();
    while (left && (is("<") || is(">") || ((is("=") || is("!")) && is_next("=")))) {
      const bool equal = is_next("=");
      const char first = tokens_[at_].text[0];
      at_ += equal ? 2 : 1;
      const auto right = sum();
      if (!right) return std::nullopt;
      const int64_t a = left->now, b = right->now;
      const bool now = first == '<'   ? (equal ? a <= b : a < b)
                       : first == '>' ? (equal ? a >= b : a > b)
                       : first == '=' ? a == b
                                      : a != b;
      const char op[] = {first, equal ? '=' : '\0', '\0'};
      left = short_enough(truth(op, *left, *right, now));
    }
    return left;
  }

  // Shifts bind less tightly than sums.
  std::optional<HostSum> sum() {
    auto left = additive();
    while (left && ((is("<") && is_next("<")) || (is(">") && is_next(">")))) {
      const bool up = is("<");
      at_ += 2;
      const auto bits = additive();
      if (!bits || !bits->constant() || bits->number < 0 || bits->number > 40) return std::nullopt;
      const HostSum power = HostSum::whole(int64_t{1} << bits->number);
      left = up ? times(*left, power) : over(*left, power);
    }
    return left;
  }

  std::optional<HostSum> additive() {
    auto left = multiplicative();
    while (left && (is("+") || is("-"))) {
      const bool minus = tokens_[at_++].is("-");
      const auto right = multiplicative();
      if (!right) return std::nullopt;
      for (const auto& [subtracted, text] : right->parts) left->parts.emplace_back(subtracted != minus, text);
      left->scale = 1;
      left->scaled.clear();
      left->number += minus ? -right->number : right->number;
      left->now += minus ? -right->now : right->now;
      left = in_range(*left);
    }
    return left;
  }

  std::optional<HostSum> multiplicative() {
    auto left = operand(true);
    while (left && (is("*") || is("/") || is("%"))) {
      const char what = tokens_[at_++].text[0];
      const auto right = what == '*' ? operand(false) : unary();
      if (!right) return std::nullopt;
      left = what == '*' ? times(*left, *right) : what == '/' ? over(*left, *right) : rest(*left, *right);
    }
    return left;
  }

  // One operand, or several that the launch passes for a size. `first`: of the product, as in n / 2 * m.
  std::optional<HostSum> operand(bool first) {
    if (!names_.product) return unary();
    for (size_t behind = behind_cast(); behind > at_; behind = behind_cast()) at_ = behind;
    const auto kept = names_.product(std::span(tokens_).subspan(at_), used_at_, first);
    if (!kept) return unary();
    at_ += kept->tokens;
    return HostSum::product(kept->times, kept->size.name, true, kept->size.now);
  }

  static std::optional<HostSum> times(const HostSum& a, const HostSum& b) {
    if (a.now != 0 && std::abs(b.now) > kLargest / std::abs(a.now)) return std::nullopt;
    const int64_t now = a.now * b.now;
    if (a.constant() && b.constant()) return HostSum::whole(now);
    if (a.constant() && a.number == 1) return b;
    if (b.constant() && b.number == 1) return a;
    return short_enough(HostSum::product_of(a, b, now));
  }

  std::optional<HostSum> over(const HostSum& a, const HostSum& b) const {
    if (b.now == 0) return std::nullopt;
    if (up_) return ceil_div(a, b);
    if (auto rounded = rounded_up(a, b)) return rounded;
    const int64_t now = a.now / b.now;
    if (a.constant() && b.constant()) return HostSum::whole(now);
    if (b.constant() && b.number == 1) return a;
    if (b.constant() && b.number > 1 && !a.scaled.empty()) {  // 64 * n / 4, and 4 * n / 8
      if (auto half = a.without_factor(b.number, now)) return half;
      if (a.scale % b.number == 0) return short_enough(HostSum::product(a.scale / b.number, a.scaled, a.leads, now));
      if (b.number % a.scale == 0)
        return over(HostSum::of(a.scaled, a.now / a.scale), HostSum::whole(b.number / a.scale));
    }
    if (a.now % b.now == 0) return short_enough(HostSum::of(a.factor() + " / " + b.right_side(), now));
    const std::string divisor = b.right_side();
    return short_enough(HostSum::of(fmt::format("({0} - {1} % {2}) / {2}", a.text(), a.factor(), divisor), now));
  }

  static std::optional<HostSum> rest(const HostSum& a, const HostSum& b) {
    if (b.now == 0) return std::nullopt;
    if (a.constant() && b.constant()) return HostSum::whole(a.number % b.number);
    return short_enough(HostSum::of(a.factor() + " % " + b.right_side(), a.now % b.now));
  }

  static std::optional<HostSum> ceil_div(const HostSum& a, const HostSum& b) {
    if (b.now <= 0 || a.now < 0) return std::nullopt;
    const int64_t now = (a.now + b.now - 1) / b.now;
    if (a.constant() && b.constant()) return HostSum::whole(now);
    return short_enough(HostSum::of(fmt::format("ceil_div({}, {})", a.text(), b.text()), now));
  }

  // (n + B - 1) / B
  static std::optional<HostSum> rounded_up(const HostSum& a, const HostSum& b) {
    HostSum rest = a;
    if (b.constant()) {
      if (a.number != b.number - 1 || a.constant() || b.number == 1) return std::nullopt;
      rest.number = 0;
      rest.now -= b.number - 1;
      return ceil_div(rest, b);
    }
    if (b.parts.size() != 1 || b.number != 0 || a.number != -1) return std::nullopt;
    const auto same = std::ranges::find(rest.parts, b.parts[0]);
    if (same == rest.parts.end()) return std::nullopt;
    rest.parts.erase(same);
    rest.number = 0;
    rest.now -= b.now - 1;
    return ceil_div(rest, b);
  }

  // Every nested bracket, call and sign passes through here.
  std::optional<HostSum> unary() {
    if (nested_ == kMostNested) return std::nullopt;
    ++nested_;
    auto value = signed_value();
    --nested_;
    return value;
  }

  std::optional<HostSum> signed_value() {
    if (take("+")) return unary();
    if (is("!") && !is_next("=")) {
      ++at_;
      const auto value = unary();
      return value ? std::optional(truth("==", *value, HostSum::whole(0), value->now == 0)) : std::nullopt;
    }
    if (take("~")) {
      const auto value = unary();
      return value && value->constant() ? std::optional(HostSum::whole(~value->number)) : std::nullopt;
    }
    if (take("-")) {
      const auto value = unary();
      return value ? times(HostSum::whole(-1), *value) : std::nullopt;
    }
    if (const size_t behind = behind_cast(); behind > at_) {
      at_ = behind;
      return unary();
    }
    return primary();
  }

  // The token behind (int), (unsigned long), (std::size_t); this one if it is no cast.
  size_t behind_cast() const {
    if (!is("(") || at_ + 2 >= tokens_.size() || !is_cast_word(tokens_[at_ + 1].text)) return at_;
    const size_t close = brackets_->closing(at_);
    const bool all = std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(at_) + 1,
                                 tokens_.begin() + static_cast<std::ptrdiff_t>(std::min(close, tokens_.size())),
                                 [](const CppToken& one) { return is_cast_word(one.text); });
    return all ? close + 1 : at_;
  }

  static bool is_cast_word(std::string_view text) { return is_number_word(text) || text == "std" || text == ":"; }

  std::optional<HostSum> primary() {
    if (take("(")) {
      auto value = choice();
      return value && take(")") ? value : std::nullopt;
    }
    if (at_ >= tokens_.size()) return std::nullopt;
    const CppToken token = tokens_[at_++];
    if (token.kind == CppToken::Kind::number) return literal(std::string(token.text));
    if (token.kind != CppToken::Kind::word) return std::nullopt;
    std::string name(token.text);
    const bool qualified = is(":");
    while (is(":") && is_next(":")) {  // std::max
      if ((at_ += 2) >= tokens_.size()) return std::nullopt;
      name = tokens_[at_++].text;
    }
    if (name == "static_cast" && is("<")) {
      at_ = brackets_->behind_angles(at_);
      return is("(") ? primary() : std::nullopt;
    }
    if (name == "sizeof" && is("(")) return bytes();
    if ((name == "min" || name == "max") && is("<")) at_ = brackets_->behind_angles(at_);  // std::min<int>
    if (is("(")) return call(name, qualified);
    if (is("[")) return std::nullopt;
    if (is(".") && at_ + 1 < tokens_.size() && is_device_property(tokens_[at_ + 1].text)) return device_property();
    if (is(".") && at_ + 1 < tokens_.size() && tokens_[at_ + 1].text.size() == 1) {
      const size_t axis = std::string_view("xyz").find(tokens_[at_ + 1].text);
      at_ += 2;
      return axis > 2 ? std::nullopt : meant(name, names_.member(name, axis, used_at_));
    }
    if (is(".") || (is("-") && is_next(">"))) return std::nullopt;  // a member, such as a tensor's size(0)
    if (const auto kept = names_.kept(name, used_at_)) return HostSum::of(kept->name, kept->now);
    return meant(name, names_.meaning(name, used_at_));
  }

  // At the point of prop.maxThreadsPerBlock. One that differs by the device is a name whose value nothing gives.
  std::optional<HostSum> device_property() {
    const std::string name(tokens_[at_ + 1].text);
    at_ += 2;
    size_t axis = 0;
    if (take("[")) {
      if (at_ >= tokens_.size() || !is_next("]")) return std::nullopt;
      axis = std::string_view("012").find(tokens_[at_].text);
      at_ += 2;
    }
    if (const auto limit = device_limit(name, axis)) return HostSum::whole(*limit);
    return meant(name, names_.meaning(name, used_at_));
  }

  std::optional<HostSum> meant(const std::string& name, const HostText& meaning) {
    std::optional<HostSum> value;
    const bool itself = meaning.text == name && meaning.at == used_at_;
    if (meaning.text.empty() && name == "argc") return HostSum::whole(1);  // a program that is given no arguments
    if (!meaning.text.empty() && !itself) value = Parser(names_, depth_ + 1, tokens_left_, unknown_).whole(meaning);
    if (!value && unknown_ && unknown_->empty()) *unknown_ = name;
    return value;
  }

  static std::optional<HostSum> literal(std::string text) {
    const auto number = whole_literal(std::move(text));
    return number ? std::optional(HostSum::whole(*number)) : std::nullopt;
  }

  std::optional<HostSum> bytes() {
    const size_t close = brackets_->closing(at_);
    if (close >= tokens_.size()) return std::nullopt;
    std::string type;
    for (size_t i = at_ + 1; i < close; ++i) type += (type.empty() ? "" : " ") + std::string(tokens_[i].text);
    at_ = close + 1;
    const auto size = names_.bytes_of(type);
    return size ? std::optional(HostSum::whole(*size)) : std::nullopt;
  }

  // True if the brackets at `open` contain a floating literal or a cast to float.
  bool has_floating(size_t open) const {
    for (size_t i = open + 1; i < std::min(brackets_->closing(open), tokens_.size()); ++i) {
      const std::string_view text = tokens_[i].text;
      const bool literal = tokens_[i].kind == CppToken::Kind::number && text.find('.') != std::string_view::npos;
      if (literal || text == "float" || text == "double") return true;
    }
    return false;
  }

  std::optional<HostSum> call(const std::string& name, bool qualified) {
    if (is_next(")")) {
      at_ += 2;
      const HostText returned = qualified ? HostText{} : names_.returned(name);
      // A name in it that is unknown is not reported: the name that gets the value is.
      return returned.text.empty() ? std::nullopt : Parser(names_, depth_ + 1, tokens_left_, nullptr).whole(returned);
    }
    const bool up = name == "ceil" || name == "ceilf";
    // ceil(n / 256) of whole numbers rounds nothing up.
    const bool was_up = std::exchange(up_, (up && has_floating(at_)) || up_);
    std::vector<HostSum> arguments;
    take("(");
    do {
      auto argument = choice();
      if (!argument) return std::nullopt;
      arguments.push_back(std::move(*argument));
    } while (take(","));
    up_ = was_up;
    if (!take(")")) return std::nullopt;
    if (arguments.size() == 1 && (up || is_number_word(name))) return arguments[0];  // size_t(n)
    if (arguments.size() != 2) return std::nullopt;
    const HostSum &a = arguments[0], &b = arguments[1];
    if (is_ceil_div(name)) return ceil_div(a, b);
    if (name != "min" && name != "max") return std::nullopt;
    const int64_t now = name == "min" ? std::min(a.now, b.now) : std::max(a.now, b.now);
    if (a.constant() && b.constant()) return HostSum::whole(now);
    return short_enough(HostSum::of(fmt::format("{}({}, {})", name, a.text(), b.text()), now));
  }

  const HostNames& names_;
  int depth_;
  int& tokens_left_;
  std::string* unknown_;
  size_t used_at_ = SIZE_MAX;
  int nested_ = 0;
  std::vector<CppToken> tokens_;
  std::optional<CppBrackets> brackets_;
  size_t at_ = 0;
  bool up_ = false;  // within ceil(…), where quotients are rounded up
};

}  // namespace

std::optional<HostValue> host_value(const HostText& expression, const HostNames& names, std::string* unknown) {
  int tokens_left = kMostTokens;
  const auto value = Parser(names, 0, tokens_left, unknown).whole(expression);
  if (!value) return std::nullopt;
  return HostValue{value->text(), value->now, value->constant()};
}

}  // namespace attnscope::catalog
