#include "catalog/address_parts.h"

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

AddressParts address_parts(const std::string& text) {
  const auto tokens = cpp_tokens(text);
  const CppBrackets brackets(tokens);
  const auto is = [&](size_t i, std::string_view mark) { return i < tokens.size() && tokens[i].is(mark); };
  if (is(0, "(") && brackets.closing(0) + 1 == tokens.size() && tokens.size() > 2)
    return address_parts(text.substr(tokens[1].at, tokens.back().at - tokens[1].at));
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

bool is_address_before(const std::string& text) {
  const auto tokens = cpp_tokens(text);
  const CppBrackets brackets(tokens);
  const auto is = [&](size_t i, std::string_view mark) { return i < tokens.size() && tokens[i].is(mark); };
  if (is(0, "(") && brackets.closing(0) + 1 == tokens.size() && tokens.size() > 2)
    return is_address_before(text.substr(tokens[1].at, tokens.back().at - tokens[1].at));
  return tokens.size() > 2 && tokens[0].kind == CppToken::Kind::word && is(1, "-") && !is(2, ">") && !is(2, "-");
}

}  // namespace attnscope::catalog
