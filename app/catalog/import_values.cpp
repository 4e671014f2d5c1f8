#include "catalog/import_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "catalog/host_number.h"
#include "catalog/host_source.h"
#include "catalog/number_literal.h"
#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostBefore = size_t{64} << 10;  // bytes of a function before its launch
constexpr double kLargestWhole = 9e15;            // a double holds all whole numbers up to here

bool holds(ElementType type, double number) {
  if (is_floating(type)) return std::isfinite(number);
  const bool without_sign = type == ElementType::u8 || type == ElementType::u16 || type == ElementType::u32;
  const double bits = 8.0 * bytes_of(type);
  const double most = std::min(kLargestWhole, std::exp2(without_sign ? bits : bits - 1) - 1);
  return number == std::floor(number) && number <= most && number >= (without_sign ? 0 : -most);
}

// What the host code before a launch gives the members of one struct. It forgets what a branch may have changed.
class MemberValues {
 public:
  MemberValues(std::string_view text, size_t first, std::string_view name, const std::vector<SourceParameter>& members)
      : text_(text), first_(first), name_(name), members_(members), tokens_(cpp_tokens(text)), brackets_(tokens_) {}

  std::vector<HostText> read() {
    forget();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      while (!open_.empty() && brackets_.closing(open_.back()) <= i) open_.pop_back();
      if (is(i, "(") || is(i, "{") || is(i, "[")) open_.push_back(i);
      if (is(i, name_) && !is_member(tokens_, i)) use(i);
    }
    return std::move(found_);
  }

  // At the { of the braces, in these tokens of the text that begins at `at` in the source.
  void fill(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t open, size_t at) {
    forget();
    const std::vector<std::string> parts = parts_in(tokens, brackets, open);
    const bool named = std::ranges::any_of(parts, [](const std::string& part) { return part.starts_with("."); });
    if (parts.size() > members_.size() || named) return;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (i < parts.size())
        found_[i] = {parts[i], at};
      else if (!members_[i].given)
        found_[i] = {"0", at};
    }
  }
  const std::vector<HostText>& found() const { return found_; }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::word; }
  void forget() { found_.assign(members_.size(), {}); }

  // True if all that is open there is open at the launch too, so that it runs before it.
  bool leads_to_launch() const { return open_.empty() || brackets_.closing(open_.back()) >= tokens_.size(); }
  bool begins_statement(size_t i) const {
    return i == 0 || is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}") || tokens_[i - 1].kind == CppToken::Kind::line;
  }

  void use(size_t i) {
    if (is(i + 1, ".")) return use_member(i);
    // The arguments of an earlier launch are copies.
    const size_t call = open_.empty() ? 0 : open_.back();
    if (call > 2 && is(call, "(") && is(call - 1, ">") && is(call - 2, ">") && is(call - 3, ">")) return;
    if (call > 0 && is(call, "(") && is(call - 1, "sizeof")) return;
    size_t open = i + 1;
    if (is(open, "=")) ++open;
    if (word(open) && is(open + 1, "{")) ++open;
    const bool declared = i > 0 && word(i - 1) && !is(i - 1, "else") && !is(i - 1, "return");
    const bool assigned = open > i + 1 && begins_statement(i);
    if (is(open, "{") && (declared || assigned) && leads_to_launch())
      fill(tokens_, brackets_, open, first_ + tokens_[open].at);
    else
      forget();
  }

  // At r of r.m.
  void use_member(size_t i) {
    const auto member = std::ranges::find_if(
        members_, [&](const SourceParameter& one) { return i + 2 < tokens_.size() && is(i + 2, one.name); });
    if (member == members_.end()) return;
    HostText& value = found_[static_cast<size_t>(member - members_.begin())];
    if (is(i + 3, "=") && !is(i + 4, "=")) {
      size_t end = i + 4;
      while (end < tokens_.size() && !is(end, ";")) ++end;
      value = {};
      if (begins_statement(i) && leads_to_launch() && end < tokens_.size())
        value = {std::string(text_.substr(tokens_[i + 4].at, tokens_[end].at - tokens_[i + 4].at)),
                 first_ + tokens_[i + 3].at};
    } else if (!is_only_read(i)) {
      value = {};
    }
  }

  // r.m * 2 and = r.m; but not f(r.m), which may get a reference, nor r.m += 2.
  bool is_only_read(size_t i) const {
    const auto operation = [&](size_t at) { return is(at, "*") || is(at, "/") || is(at, "+") || is(at, "-"); };
    const size_t behind = i + 3;
    const bool changed = operation(behind) && (is(behind + 1, "=") || is(behind + 1, tokens_[behind].text));
    if (changed || i < 2) return false;
    const bool first = operation(i - 1) && tokens_[i - 2].text == tokens_[i - 1].text;  // ++r.m
    const bool followed = is(behind, ";") || is(behind, ")") || is(behind, ",") || operation(behind);
    if (first || !followed || is(i - 1, "&")) return false;
    return operation(i - 1) || operation(behind) ||
           (is(i - 1, "=") && is(behind, ";") && word(i - 2) && word(i - 3) && !is(i - 3, "auto"));
  }

  const std::string_view text_;
  const size_t first_;  // byte offset of the text in the source
  const std::string_view name_;
  const std::vector<SourceParameter>& members_;
  const std::vector<CppToken> tokens_;
  const CppBrackets brackets_;
  std::vector<size_t> open_;  // brackets
  std::vector<HostText> found_;
};

}  // namespace

std::optional<double> literal_value(const std::string& text, ElementType type) {
  const std::string literal = without_suffix(text);
  if (is_octal(literal)) return std::nullopt;
  double number = 0;
  const char* const last = literal.data() + literal.size();
  const auto [end, error] = std::from_chars(literal.data(), last, number);
  const bool said = !literal.empty() && error == std::errc() && end == last && std::isfinite(number) &&
                    (is_floating(type) || number == std::floor(number));
  return said ? std::optional(number) : std::nullopt;
}

std::optional<PassedNumber> passed_number(const HostText& passed, ElementType type, const HostScope& scope) {
  if (passed.text.empty()) return std::nullopt;
  scope.take_guessed();
  scope.take_sized();
  const auto number = host_number(passed, scope);
  const bool guessed = scope.take_guessed(), of_sizes = scope.take_sized();
  if (!number || !holds(type, *number)) return std::nullopt;
  return PassedNumber{*number, guessed || of_sizes, of_sizes};
}

std::vector<HostText> passed_members(const ReadSource& source, const HostText& passed,
                                     const std::vector<SourceParameter>& members) {
  const std::vector<HostText> nothing(members.size());
  const std::vector<CppToken> own = cpp_tokens(passed.text);
  if (own.size() > 2 && own[1].is("{")) {
    MemberValues values({}, 0, {}, members);
    values.fill(own, CppBrackets(own), 1, passed.at);
    return values.found();
  }
  const HostFunction* const function = source.host.function_at(passed.at);
  if (own.size() != 1 || own[0].kind != CppToken::Kind::word || !function) return nothing;
  // Only the function of the launch: another one's variable of that name is another one.
  const size_t first = passed.at - std::min(passed.at - function->begin, kMostBefore);
  const std::string_view text = std::string_view(source.text).substr(first, passed.at - first);
  return MemberValues(text, first, passed.text, members).read();
}

nlohmann::ordered_json value_argument(double number, ElementType type) {
  const bool whole = number == std::floor(number) && std::abs(number) <= kLargestWhole;
  nlohmann::ordered_json value = number;
  if (whole) value = static_cast<int64_t>(number);
  return nlohmann::ordered_json{{"value", value}, {"type", word_of(type)}};
}

bool counts_nothing(const std::string& name) {
  // Not iter, step or value: a loop of no turns, or one that never ends, would come of 0.
  static constexpr std::array<std::string_view, 18> words{"seed",  "offset", "start", "begin", "first",    "idx",
                                                          "index", "id",     "shift", "bit",   "pos",      "phase",
                                                          "pass",  "flag",   "mode",  "rank",  "position", "dummy"};
  // The last word of row_idx, rowIdx or d_seed.
  size_t begin = name.size();
  while (begin > 0 && name[begin - 1] != '_') {
    --begin;
    if (std::isupper(static_cast<unsigned char>(name[begin])) != 0 &&
        (begin == 0 || std::islower(static_cast<unsigned char>(name[begin - 1])) != 0))
      break;
  }
  std::string last = name.substr(begin);
  std::ranges::transform(last, last.begin(),
                         [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return std::ranges::find(words, last) != words.end() || name.starts_with("is_") || name.starts_with("use_");
}

}  // namespace attnscope::catalog
