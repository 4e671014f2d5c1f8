#include "catalog/unset_names.h"

#include <vector>

#include "catalog/template_guess.h"
#include "core/cpp_tokens.h"
#include "core/text.h"

namespace attnscope::catalog {
namespace {

using TokenKind = CppToken::Kind;

bool unrolls_by(std::string_view line, std::string_view name) {
  const std::vector<CppToken> words = cpp_tokens(line.substr(1));
  if (words.size() < 3 || !words[0].is("pragma") || !words[1].is("unroll")) return false;
  return words[2].is(name) || (words.size() > 3 && words[2].is("(") && words[3].is(name));
}

// `type a[name]` or `type a[4][name]`, at the name; not an element.
bool is_length(const std::vector<CppToken>& tokens, size_t i) {
  if (i < 3 || i + 1 >= tokens.size() || !tokens[i - 1].is("[") || !tokens[i + 1].is("]")) return false;
  size_t array = i - 2;
  while (array > 2 && tokens[array].is("]")) {
    while (array > 1 && !tokens[array].is("[")) --array;
    --array;
  }
  const CppToken& before = tokens[array - 1];
  return tokens[array].kind == TokenKind::word && before.kind == TokenKind::word && !before.is("return") &&
         !before.is("else");
}

}  // namespace

std::optional<std::string> number_of_unset(std::string_view source, const std::string& name) {
  if (name.empty() || name == "FIXME" || name == "TODO") return std::nullopt;
  bool used = false;
  std::string said;
  const std::vector<CppToken> tokens = cpp_tokens(source);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::line) {
      used = used || unrolls_by(tokens[i].text, name);
    } else if (tokens[i].is(name)) {
      used = used || is_length(tokens, i);
      const bool number = i + 3 < tokens.size() && tokens[i + 1].is("=") && tokens[i + 2].kind == TokenKind::number &&
                          (tokens[i + 3].is(";") || tokens[i + 3].is(","));
      if (number && said.empty() && number_of<int64_t>(tokens[i + 2].text)) said = tokens[i + 2].text;
    }
  }
  if (!used) return std::nullopt;
  return said.empty() ? template_guess({.name = name, .kind = "int", .standard = ""}, 0) : said;
}

}  // namespace attnscope::catalog
