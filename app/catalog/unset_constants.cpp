#include "catalog/unset_constants.h"

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

std::vector<std::string> unset_constants(std::string_view source) {
  std::vector<std::string> names;
  const std::vector<CppToken> tokens = cpp_tokens(source);
  const CppBrackets brackets(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__constant__")) continue;
    std::string name;
    for (++i; i < tokens.size() && !tokens[i].is(";"); ++i) {
      if (tokens[i].is("=") || tokens[i].is("{") || tokens[i].is("(")) {  // it has a value, or is no variable
        name.clear();
        break;
      }
      if (tokens[i].is("[")) i = brackets.closing(i);
      if (i < tokens.size() && tokens[i].kind == CppToken::Kind::word) name = tokens[i].text;
    }
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace attnscope::catalog
