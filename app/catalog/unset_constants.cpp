#include "catalog/unset_constants.h"

#include <algorithm>
#include <set>

#include "core/cpp_tokens.h"
#include "core/declaration.h"

namespace attnscope::catalog {
namespace {

// The text between the brackets at `open`.
std::string extent(const std::vector<CppToken>& tokens, size_t open, size_t close) {
  std::string text;
  for (size_t i = open + 1; i < std::min(close, tokens.size()); ++i) text += std::string(tokens[i].text) + " ";
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

std::vector<UnsetConstant> unset_constants(std::string_view source) {
  static const std::set<std::string_view> qualifiers{"static", "extern", "const", "volatile", "__device__", "struct"};
  std::vector<UnsetConstant> constants;
  std::set<std::string> seen;
  const std::vector<CppToken> tokens = cpp_tokens(source);
  const CppBrackets brackets(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__constant__")) continue;
    UnsetConstant one;
    const auto declared = [&] {
      if (!one.name.empty() && seen.insert(one.name).second) constants.push_back(one);
      one.name.clear();
      one.extents.clear();
    };
    for (++i; i < tokens.size() && !tokens[i].is(";"); ++i) {
      if (is_alignment(tokens, i)) {
        i = brackets.closing(i + 1);
      } else if (tokens[i].is("{") || tokens[i].is("(")) {  // it has a value, or is not a variable
        one.name.clear();
        break;
      } else if (tokens[i].is("=")) {  // it has a value
        i = value_end(tokens, brackets, i);
        one.name.clear();
      } else if (tokens[i].is(",")) {
        declared();
      } else if (tokens[i].is("<")) {
        i = brackets.behind_angles(i) - 1;
      } else if (tokens[i].is("[")) {
        const size_t close = brackets.closing(i);
        one.extents.push_back(extent(tokens, i, close));
        i = close;
      } else if (tokens[i].kind == CppToken::Kind::word && !qualifiers.contains(tokens[i].text)) {
        if (!one.name.empty()) one.type += (one.type.empty() ? "" : " ") + one.name;
        one.name = tokens[i].text;
      }
    }
    declared();
  }
  return constants;
}

}  // namespace attnscope::catalog
