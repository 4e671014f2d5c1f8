#include "catalog/written_parameters.h"

#include <algorithm>
#include <string>

#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

// `int& n` and `T &n`, but not `const T& n` and `T&& n`.
bool is_written_reference(const std::vector<CppToken>& tokens, size_t begin, size_t end) {
  if (end < begin + 3 || end > begin + kMostTextTokens || tokens[end - 1].kind != CppToken::Kind::word) return false;
  if (!tokens[end - 2].is("&") || tokens[end - 3].is("&")) return false;
  return std::none_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                      tokens.begin() + static_cast<std::ptrdiff_t>(end),
                      [](const CppToken& token) { return token.is("const"); });
}

}  // namespace

WrittenParameters written_parameters(const std::vector<CppToken>& tokens, const CppBrackets& brackets) {
  static const std::set<std::string_view> no_function{"if", "while", "for", "switch", "catch", "return"};
  WrittenParameters written{{"swap", {0, 1}}};
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    const bool named = tokens[i].kind == CppToken::Kind::word && !no_function.contains(tokens[i].text);
    if (!named || !tokens[i + 1].is("(") || tokens[i - 1].is("return") || tokens[i - 1].is("else")) continue;
    const bool typed = tokens[i - 1].kind == CppToken::Kind::word || tokens[i - 1].is(">") || tokens[i - 1].is("*") ||
                       tokens[i - 1].is("&") || tokens[i - 1].is(":");
    const size_t close = brackets.closing(i + 1);
    // The list of a hostile file may be as long as the file.
    if (!typed || close >= tokens.size() || close > i + kMostTextTokens) continue;
    const auto parts = parts_of(tokens, brackets, i + 2, close);
    for (size_t k = 0; k < parts.size(); ++k)
      if (is_written_reference(tokens, parts[k].first, parts[k].second)) written[tokens[i].text].insert(k);
  }
  return written;
}

void read_call(const HostToken& place, const WrittenParameters& written, HostValues& values) {
  const auto& [tokens, brackets, i, end_of_block] = place;
  const auto found = written.find(tokens[i].text);
  if (found == written.end() || !place.is(i + 1, "(")) return;
  const size_t close = brackets.closing(i + 1);
  if (close >= tokens.size() || close > i + kMostTextTokens) return;
  const auto parts = parts_of(tokens, brackets, i + 2, close);
  for (const size_t k : found->second)
    if (k < parts.size() && parts[k].second == parts[k].first + 1 && place.word(parts[k].first))
      change(values, std::string(tokens[parts[k].first].text), tokens[i].at, tokens[i].at);
}

}  // namespace attnscope::catalog
