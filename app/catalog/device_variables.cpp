#include "catalog/device_variables.h"

#include <functional>
#include <map>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {

std::set<std::string, std::less<>> device_variables(std::string_view source) {
  std::set<std::string, std::less<>> found;
  const auto tokens = cpp_tokens(source);
  const CppBrackets brackets(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__device__")) continue;
    std::string_view name;
    bool writable = true;
    for (size_t k = i + 1; k < tokens.size(); ++k) {
      if (tokens[k].is("const") || tokens[k].is("constexpr") || tokens[k].is("__constant__")) writable = false;
      if (tokens[k].is("<")) {  // the arguments of a type
        k = brackets.behind_angles(k) - 1;
        continue;
      }
      if (tokens[k].is("(") || tokens[k].is("{") || tokens[k].is("}")) break;  // a function, or not a declaration
      if (tokens[k].is(";") || tokens[k].is("=") || tokens[k].is("[")) {
        if (writable && !name.empty()) found.emplace(name);
        break;
      }
      if (tokens[k].kind == CppToken::Kind::word) name = tokens[k].text;
    }
  }
  return found;
}

std::optional<SharedVariable> shared_variable(std::string_view source, const std::vector<std::string_view>& bodies) {
  const auto variables = device_variables(source);
  if (variables.empty()) return std::nullopt;
  std::map<std::string, size_t, std::less<>> named;  // by the first body that names it
  for (size_t i = 0; i < bodies.size(); ++i)
    for (const CppToken& token : cpp_tokens(bodies[i])) {
      if (token.kind != CppToken::Kind::word || !variables.contains(token.text)) continue;
      const auto [first, fresh] = named.try_emplace(std::string(token.text), i);
      if (!fresh && first->second != i) return SharedVariable{first->first, first->second, i};
    }
  return std::nullopt;
}

}  // namespace attnscope::catalog
