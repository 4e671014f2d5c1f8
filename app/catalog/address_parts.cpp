#include "catalog/address_parts.h"

#include "catalog/source_text.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

// "(p + n)": p + n.
std::string without_brackets(const std::string& text) {
  const auto tokens = cpp_tokens(text);
  if (tokens.size() < 3 || !tokens[0].is("(") || CppBrackets(tokens).closing(0) + 1 != tokens.size()) return text;
  return without_brackets(text.substr(tokens[1].at, tokens.back().at - tokens[1].at));
}

}  // namespace

AddressParts address_parts(const std::string& whole) {
  const std::string text = without_brackets(whole);
  const auto tokens = cpp_tokens(text);
  const CppBrackets brackets(tokens);
  const auto is = [&](size_t i, std::string_view mark) { return catalog::is(tokens, i, mark); };
  if (is(0, "&") && is(2, "[") && brackets.closing(2) + 1 == tokens.size() && tokens.size() > 4)
    return {std::string(tokens[1].text), text.substr(tokens[3].at, tokens.back().at - tokens[3].at)};
  if (tokens.empty() || tokens[0].kind != CppToken::Kind::word || tokens[0].text.ends_with("_cast")) return {};
  size_t plus = 0;  // the first one outside brackets
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (is(i, "(") || is(i, "[") || is(i, "{")) {
      i = brackets.closing(i);
      continue;
    }
    if (is(i, "?") || is(i, ",") || is(i, "=") || is(i, "|") || is(i, "&") || is(i, "^")) return {};
    if (plus == 0 && (is(i, "*") || is(i, "/") || is(i, "%") || (is(i, "-") && !is(i + 1, ">")))) return {};
    if (plus == 0 && is(i, "+")) plus = i;
  }
  if (plus == 0 || plus + 1 >= tokens.size() || is(plus + 1, "+")) return {};
  return {text.substr(0, tokens[plus].at), text.substr(tokens[plus + 1].at)};
}

bool is_address_before(const std::string& whole) {
  const std::string text = without_brackets(whole);
  const auto tokens = cpp_tokens(text);
  return tokens.size() > 2 && tokens[0].kind == CppToken::Kind::word && tokens[1].is("-") && !tokens[2].is(">") &&
         !tokens[2].is("-");
}

}  // namespace attnscope::catalog
