#include "compile/own_names.h"

#include <algorithm>
#include <vector>

#include "core/cpp_tokens.h"
#include "core/text.h"

namespace attnscope::compile {

std::map<std::string, OwnName> own_names(std::string_view source, const std::set<std::string>& names) {
  std::map<std::string, OwnName> own;
  // A word before a name declares it, except for these.
  static const std::set<std::string_view> other{"return", "case", "else", "goto", "sizeof", "and", "or", "not", "new"};
  static const std::set<std::string_view> ends{"=", ",", ">", ")", ";", "[", "{"};
  const std::vector<CppToken> tokens = cpp_tokens(source);
  std::set<std::string> expected;
  for (const CppToken& token : tokens) {
    if (token.kind != CppToken::Kind::line) continue;
    const std::vector<CppToken> words = cpp_tokens(token.text.substr(1));
    if (words.empty() || !(words[0].text.starts_with("if") || words[0].is("elif"))) continue;
    for (const CppToken& word : words)
      if (names.contains(std::string(word.text))) expected.emplace(word.text);
  }
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    const CppToken& before = tokens[i - 1];
    const std::string name(tokens[i].text);
    if (tokens[i].kind != CppToken::Kind::word || !names.contains(name) || expected.contains(name)) continue;
    if (before.kind != CppToken::Kind::word || other.contains(before.text) || !ends.contains(tokens[i + 1].text))
      continue;
    const int64_t line = 1 + std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(tokens[i].at), '\n');
    OwnName& found = own.try_emplace(name, OwnName{line, {}}).first->second;
    const bool valued =
        tokens[i + 1].is("=") && i + 3 < tokens.size() && (tokens[i + 3].is(";") || tokens[i + 3].is(","));
    if (!valued) continue;
    const std::string_view text = tokens[i + 2].text;
    if (text == "true" || text == "false")
      found.value = text == "true";
    else if (const auto number = number_of<int64_t>(text))
      found.value = *number;
  }
  return own;
}

}  // namespace attnscope::compile
