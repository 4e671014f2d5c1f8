#include "compile/extern_variables.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/cpp_tokens.h"
#include "core/declaration.h"

namespace attnscope::compile {
namespace {

using Tokens = std::vector<CppToken>;

// The variables that the declaration at `first` names, and its end; no names if it does not declare device variables.
struct Declared {
  std::vector<std::string_view> names;
  bool is_extern = false;
  size_t end = 0, extern_at = 0;
};

Declared declared_at(const Tokens& tokens, const CppBrackets& brackets, size_t first) {
  Declared found;
  std::string_view name;
  bool device = false;
  size_t i = first;
  for (; i < tokens.size() && !tokens[i].is(";") && !tokens[i].is("}"); ++i) {
    const CppToken& token = tokens[i];
    if (token.kind == CppToken::Kind::line || token.is("(") || token.is("{")) break;
    const bool linkage = i + 1 < tokens.size() && tokens[i + 1].kind == CppToken::Kind::text;  // extern "C"
    if (token.is("extern") && !linkage) {
      found.is_extern = true;
      found.extern_at = token.at;
    } else if (token.is("__constant__") || token.is("__device__")) {
      device = true;
    } else if (is_alignment(tokens, i)) {
      i = brackets.closing(i + 1);
    } else if (token.is("[")) {
      i = brackets.closing(i);
    } else if (token.is("<")) {
      i = brackets.behind_angles(i) - 1;
    } else if (token.is("=")) {
      i = value_end(tokens, brackets, i);
    } else if (token.is(",")) {
      if (!name.empty()) found.names.push_back(std::exchange(name, {}));
    } else if (token.kind == CppToken::Kind::word) {
      name = token.text;
    }
  }
  i = std::min(i, tokens.size());
  if (!name.empty()) found.names.push_back(name);
  const bool function = i < tokens.size() && (tokens[i].is("(") || tokens[i].is("}"));
  if (function || !device) found.names.clear();
  found.end = std::max(i, first + 1);
  return found;
}

}  // namespace

std::string with_extern_variables_defined(std::string_view source) {
  std::string out(source);
  if (source.find("extern") == std::string_view::npos) return out;
  const Tokens tokens = cpp_tokens(source);
  const CppBrackets brackets(tokens);
  std::set<std::string_view> defined;
  std::vector<Declared> open;
  for (size_t i = 0; i < tokens.size();) {
    const bool starts = tokens[i].is("extern") || tokens[i].is("__constant__") || tokens[i].is("__device__");
    if (!starts) {
      ++i;
      continue;
    }
    const Declared one = declared_at(tokens, brackets, i);
    i = one.end;
    if (one.names.empty()) continue;
    if (one.is_extern)
      open.push_back(one);
    else
      defined.insert(one.names.begin(), one.names.end());
  }
  for (const Declared& one : open) {
    const auto is_defined = [&](std::string_view name) { return defined.contains(name); };
    if (std::ranges::any_of(one.names, is_defined)) continue;
    defined.insert(one.names.begin(), one.names.end());
    out.replace(one.extern_at, 6, 6, ' ');
  }
  return out;
}

}  // namespace attnscope::compile
