#include "catalog/import_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "catalog/host_number.h"
#include "catalog/host_source.h"

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

// The names of the brackets of `Type name{…}`, `Type name = {…}` or `name = Type{…}`: index of the {, or SIZE_MAX.
size_t braces_of(const std::vector<CppToken>& tokens, std::string_view name, size_t before) {
  size_t found = SIZE_MAX;
  for (size_t i = 1; i + 2 < tokens.size() && tokens[i].at < before; ++i) {
    if (!tokens[i].is(name)) continue;
    size_t open = i + 1;
    if (tokens[open].is("=")) ++open;
    if (open + 1 < tokens.size() && tokens[open].kind == CppToken::Kind::word && tokens[open + 1].is("{")) ++open;
    if (tokens[open].is("{") && (open > i + 1 || tokens[i - 1].kind == CppToken::Kind::word)) found = open;
  }
  return found;
}

}  // namespace

std::string without_suffix(std::string literal) {
  while (!literal.empty() && std::string_view("fFlLuU").find(literal.back()) != std::string_view::npos)
    literal.pop_back();
  return literal;
}

std::optional<double> literal_value(const std::string& text, ElementType type) {
  const std::string literal = without_suffix(text);
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
  const auto number = host_number(passed, scope);
  const bool guessed = scope.take_guessed();
  if (!number || !holds(type, *number)) return std::nullopt;
  return PassedNumber{*number, guessed};
}

std::vector<HostText> passed_members(const ReadSource& source, const HostText& passed,
                                     const std::vector<SourceParameter>& members) {
  std::vector<HostText> found(members.size());
  if (passed.text.empty()) return found;
  const auto fill = [&](const std::vector<CppToken>& tokens, size_t open, size_t at) {
    const std::vector<std::string> parts = parts_in(tokens, CppBrackets(tokens), open);
    if (parts.size() > members.size()) return;
    for (size_t i = 0; i < parts.size(); ++i)
      if (!parts[i].starts_with(".")) found[i] = {parts[i], at};
  };
  const std::vector<CppToken> own = cpp_tokens(passed.text);
  if (own.size() > 2 && own[1].is("{")) {
    fill(own, 1, passed.at);
    return found;
  }
  if (own.size() != 1 || own[0].kind != CppToken::Kind::word) return found;
  const HostFunction* const function = source.host.function_at(passed.at);
  if (!function) return found;
  // Only the function of the launch: another one's variable of that name is another one.
  const size_t first = passed.at - std::min(passed.at - function->begin, kMostBefore);
  const std::string_view text = std::string_view(source.text).substr(first, passed.at - first);
  const std::vector<CppToken> tokens = cpp_tokens(text);
  if (const size_t open = braces_of(tokens, passed.text, text.size()); open != SIZE_MAX)
    fill(tokens, open, first + tokens[open].at);
  for (size_t i = 0; i + 4 < tokens.size(); ++i) {
    if (!tokens[i].is(passed.text) || !tokens[i + 1].is(".") || !tokens[i + 3].is("=") || tokens[i + 4].is("="))
      continue;
    const auto member = std::ranges::find(members, tokens[i + 2].text, &SourceParameter::name);
    size_t end = i + 4;
    while (end < tokens.size() && !tokens[end].is(";")) ++end;
    if (member == members.end() || end >= tokens.size()) continue;
    found[static_cast<size_t>(member - members.begin())] = {
        std::string(text.substr(tokens[i + 4].at, tokens[end].at - tokens[i + 4].at)), first + tokens[i + 3].at};
  }
  return found;
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
