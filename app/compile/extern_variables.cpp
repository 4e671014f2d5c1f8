#include "compile/extern_variables.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/cpp_tokens.h"

namespace attnscope::compile {
namespace {

using Tokens = std::vector<CppToken>;

// The variable that the declaration at `first` names, with its end; without a name: it is none of a device variable.
struct Declared {
  std::string_view name;
  bool is_extern = false, device = false;
  size_t end = 0, extern_at = 0;
};

Declared declared_at(const Tokens& tokens, const CppBrackets& brackets, size_t first) {
  Declared found;
  size_t i = first;
  for (; i < tokens.size() && !tokens[i].is(";") && !tokens[i].is("}"); ++i) {
    if (tokens[i].kind == CppToken::Kind::line || tokens[i].is("(") || tokens[i].is("{") || tokens[i].is("=")) break;
    const bool linkage = i + 1 < tokens.size() && tokens[i + 1].kind == CppToken::Kind::text;  // extern "C"
    if (tokens[i].is("extern") && !linkage) {
      found.is_extern = true;
      found.extern_at = tokens[i].at;
    } else if (tokens[i].is("__constant__") || tokens[i].is("__device__")) {
      found.device = true;
    } else if (tokens[i].is("[")) {
      i = std::min(brackets.closing(i), tokens.size() - 1);
    } else if (tokens[i].kind == CppToken::Kind::word) {
      found.name = tokens[i].text;
    }
  }
  const bool function = i < tokens.size() && (tokens[i].is("(") || tokens[i].is("}"));
  if (function || !found.device) found.name = {};
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
    if (!one.name.empty() && !one.is_extern) defined.insert(one.name);
    if (!one.name.empty() && one.is_extern) open.push_back(one);
    i = one.end;
  }
  for (const Declared& one : open)
    if (defined.insert(one.name).second) out.replace(one.extern_at, 6, 6, ' ');
  return out;
}

}  // namespace attnscope::compile
