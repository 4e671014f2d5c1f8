#include "catalog/launched_alias.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/source_text.h"
#include "catalog/template_arguments.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

using Tokens = std::vector<CppToken>;

bool is_word(const Tokens& tokens, size_t i) { return i < tokens.size() && tokens[i].kind == CppToken::Kind::word; }
bool is_scope(const Tokens& tokens, size_t i) { return is(tokens, i, ":") && is(tokens, i + 1, ":"); }

// The numbers of `app::run<128, 64>`, at run, if there are `count` of them; otherwise none.
std::vector<std::string> numbers_at(const Tokens& tokens, size_t i, size_t count) {
  std::vector<std::string> numbers;
  if (!is(tokens, i + 1, "<")) return numbers;
  for (i += 2; i + 1 < tokens.size() && tokens[i].kind == CppToken::Kind::number && numbers.size() < count; i += 2) {
    numbers.emplace_back(tokens[i].text);
    if (is(tokens, i + 1, ">")) break;
    if (!is(tokens, i + 1, ",")) return {};
  }
  if (numbers.size() != count || !is(tokens, i + 1, ">")) numbers.clear();
  return numbers;
}

// The first such numbers in these tokens or in their macros. `last`: the innermost namespace, which the name must have.
std::vector<std::string> numbers_in(const Tokens& tokens, const std::string& function, std::string_view last,
                                    size_t count, bool in_macro = false) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool line = tokens[i].kind == CppToken::Kind::line && !in_macro;
    if (line && tokens[i].text.find(function) != std::string_view::npos) {
      auto numbers = numbers_in(cpp_tokens(tokens[i].text.substr(1)), function, last, count, true);
      if (!numbers.empty()) return numbers;
    }
    if (!is(tokens, i, function)) continue;
    const bool scoped = i > 2 && is_scope(tokens, i - 2);
    if (scoped ? tokens[i - 3].text != last : !last.empty()) continue;
    auto numbers = numbers_at(tokens, i, count);
    if (!numbers.empty()) return numbers;
  }
  return {};
}

// The classes of the source with their namespaces, "app::Tiles", and where each is declared first: its struct's token.
std::map<std::string, size_t> classes_of(const Tokens& tokens, const CppBrackets& brackets) {
  std::map<std::string, size_t> found;
  std::vector<std::pair<size_t, size_t>> ends;  // of the open namespaces: closing token, length of the prefix before it
  std::string prefix;
  for (size_t i = 0; i < tokens.size(); ++i) {
    while (!ends.empty() && i > ends.back().first) {
      prefix.resize(ends.back().second);
      ends.pop_back();
    }
    if (is(tokens, i, "namespace") && !(i > 0 && is(tokens, i - 1, "using"))) {
      size_t open = i + 1;
      while (is_word(tokens, open) || is(tokens, open, ":")) ++open;
      if (!is(tokens, open, "{") || prefix.size() > kLongestText) continue;
      ends.emplace_back(brackets.closing(open), prefix.size());
      if (open > i + 1) prefix += text_of(tokens, i + 1, open) + "::";
      i = open;
    } else if ((is(tokens, i, "struct") || is(tokens, i, "class")) && is_word(tokens, i + 1)) {
      found.emplace(prefix + std::string(tokens[i + 1].text), i);
    } else if (is(tokens, i, "{")) {
      i = std::min(brackets.closing(i), tokens.size() - 1);
    }
  }
  return found;
}

// The name with the namespaces in which the kernel's namespace finds it.
std::string qualified(const std::string& name, std::string space, const std::map<std::string, size_t>& classes) {
  while (!space.empty() && !classes.contains(space + name)) {
    const size_t outer = space.rfind("::", space.size() - 3);
    space = outer == std::string::npos || space.size() < 3 ? "" : space.substr(0, outer + 2);
  }
  return space + name;
}

// The names of the template's parameters of the class at `i`: M and N of `template <int M, int N = 2> struct Tiles`.
std::vector<std::string> parameters_of(const Tokens& tokens, const CppBrackets& brackets, size_t i) {
  size_t open = i;
  while (open > 0 && open + kMostTextTokens > i && !is(tokens, open, "template")) --open;
  ++open;
  if (!is(tokens, open - 1, "template") || !is(tokens, open, "<") || brackets.behind_angles(open) != i) return {};
  std::vector<std::string> names;
  for (const auto& [begin, end] : parts_of(tokens, brackets, open + 1, i - 1)) {
    size_t last = begin;
    while (last + 1 < end && !is(tokens, last + 1, "=")) ++last;
    names.emplace_back(last < end ? tokens[last].text : std::string_view());
  }
  return names;
}

}  // namespace

std::optional<LaunchedAlias> launched_alias(const ReadSource& source, const SourceLaunch& launch,
                                            const std::string& name, const std::string& kernels_namespace) {
  const HostFunction* const function = source.host.function_at(launch.at);
  if (!function || launch.at > source.text.size()) return std::nullopt;
  const Tokens inside = cpp_tokens(std::string_view(source.text).substr(function->begin, launch.at - function->begin));
  size_t begin = 0, end = 0;
  for (size_t i = 0; i + 3 < inside.size(); ++i)
    if (inside[i].is("using") && inside[i + 1].is(name) && inside[i + 2].is("=")) begin = i + 3;
  for (end = begin; begin > 0 && end < inside.size() && !inside[end].is(";"); ++end) continue;
  if (begin == 0 || end > begin + kMostTextTokens) return std::nullopt;

  const Tokens all = cpp_tokens(source.text);
  LaunchedAlias found;
  if (!function->templates.empty()) {
    std::string_view space = kernels_namespace;
    if (space.ends_with("::")) space.remove_suffix(2);
    const size_t colon = space.rfind(':');
    const std::string_view last = colon == std::string_view::npos ? space : space.substr(colon + 1);
    const auto numbers = numbers_in(all, function->name, last, function->templates.size());
    if (numbers.empty()) return std::nullopt;
    for (size_t i = 0; i < numbers.size(); ++i) found.numbers.emplace(function->templates[i], numbers[i]);
  }
  std::string head;
  size_t i = begin;
  for (; i < end && (is_word(inside, i) || is(inside, i, ":")); ++i) head += inside[i].text;
  const CppBrackets brackets(all);
  const auto classes = classes_of(all, brackets);
  found.type = qualified(head, kernels_namespace, classes);
  const auto declared = classes.find(found.type);
  const std::string written = found.type;
  for (; i < end; ++i) {
    const auto number = found.numbers.find(std::string(inside[i].text));
    found.type += number == found.numbers.end() ? std::string(inside[i].text) : number->second;
    if (is(inside, i, ",") || (is_word(inside, i) && is_word(inside, i + 1))) found.type += " ";
  }
  // The class' own names for them, in which its constants are written.
  if (declared == classes.end() || !found.type.ends_with(">")) return found;
  const auto arguments = split_arguments(found.type.substr(written.size() + 1, found.type.size() - written.size() - 2));
  const auto names = parameters_of(all, brackets, declared->second);
  for (size_t k = 0; k < std::min(arguments.size(), names.size()); ++k)
    if (arguments[k].find_first_not_of("0123456789") == std::string::npos)
      found.numbers.emplace(names[k], arguments[k]);
  return found;
}

}  // namespace attnscope::catalog
