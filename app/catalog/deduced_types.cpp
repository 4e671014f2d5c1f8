#include "catalog/deduced_types.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "catalog/element_types.h"
#include "catalog/import_sizes.h"
#include "catalog/source_text.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr int kDeepestAlias = 8;

// The type of the nearest declaration `Type name` or `Type<…> name` before `at` whose type is a class of the source.
std::optional<std::string> declared_type(const ReadSource& source, std::string_view name, size_t at) {
  const std::vector<CppToken> tokens = cpp_tokens(std::string_view(source.text).substr(0, at));
  const auto is_class = [&](size_t i) {
    return tokens[i].kind == CppToken::Kind::word && source.cuda.classes.contains(std::string(tokens[i].text));
  };
  for (size_t i = tokens.size(); i-- > 1;) {
    if (!tokens[i].is(name) || tokens[i].kind != CppToken::Kind::word) continue;
    size_t first = i - 1;  // of the type
    if (tokens[first].is(">")) {
      for (size_t depth = 0; first > 0 && first + kMostTextTokens > i; --first) {
        if (tokens[first].is(">")) ++depth;
        if (tokens[first].is("<") && --depth == 0) break;
      }
      if (first == 0 || !tokens[first].is("<")) continue;
      --first;
    }
    if (!is_class(first)) continue;
    std::string type = text_of(tokens, first, i);
    if (!type.empty()) return type;
  }
  return std::nullopt;
}

// `double` of the declaration `ft *name`, in the function around `at` or among its parameters, where ft is a double.
std::optional<std::string> pointed_to(const ReadSource& source, std::string_view name, size_t at) {
  const HostFunction* const around = source.host.function_at(at);
  if (!around) return std::nullopt;
  const std::string_view text = source.text;
  const size_t before = text.substr(0, around->begin).find_last_of(";}");
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::vector<CppToken> tokens = cpp_tokens(text.substr(begin, at - begin));
  const auto begins = [&](size_t i) {
    return i == 0 || is(tokens, i - 1, ";") || is(tokens, i - 1, "{") || is(tokens, i - 1, "}") ||
           is(tokens, i - 1, "(") || is(tokens, i - 1, ",");
  };
  size_t closed = 0;  // blocks behind the token that are over at the launch
  for (size_t i = tokens.size(); i-- > 2;) {
    if (tokens[i].is("}")) ++closed;
    if (tokens[i].is("{") && closed > 0) --closed;
    if (closed > 0 || !tokens[i].is(name) || !tokens[i - 1].is("*") || tokens[i - 2].kind != CppToken::Kind::word)
      continue;
    const size_t type = i - 2;
    if (!begins(type) && !(tokens[type - 1].is("const") && begins(type - 1))) continue;
    std::string found(tokens[type].text);
    if (std::ranges::count(around->templates, found) > 0) return std::nullopt;
    for (int depth = 0; depth < kDeepestAlias && source.cuda.types.contains(found); ++depth) {
      if (source.cuda.unsure_types.contains(found)) return std::nullopt;
      found = source.cuda.types.at(found);
    }
    return element_of(found) ? std::optional(std::move(found)) : std::nullopt;
  }
  return std::nullopt;
}

// `double` of `thrust::device_vector<double> in(n), out(n);`, in the function around `at`.
std::optional<std::string> vector_of(const ReadSource& source, std::string_view name, size_t at) {
  const HostFunction* const around = source.host.function_at(at);
  if (!around || around->begin > at) return std::nullopt;
  const std::vector<CppToken> tokens =
      cpp_tokens(std::string_view(source.text).substr(around->begin, at - around->begin));
  std::optional<std::string> found;
  for (size_t i = 0; i + 4 < tokens.size(); ++i) {
    if (!tokens[i].is("device_vector") || !tokens[i + 1].is("<") || !tokens[i + 3].is(">")) continue;
    for (size_t k = i + 4; k < tokens.size() && k < i + kMostTextTokens && !tokens[k].is(";"); ++k)
      if (tokens[k].is(name) && (tokens[k - 1].is(">") || tokens[k - 1].is(","))) found = tokens[i + 2].text;
  }
  return found && element_of(*found) ? found : std::nullopt;
}

// x of `thrust::raw_pointer_cast(x.data())` and `thrust::raw_pointer_cast(&x[0])`.
std::string vector_in(const std::vector<CppToken>& passed) {
  const auto cast = std::ranges::find_if(passed, [](const CppToken& one) { return one.is("raw_pointer_cast"); });
  const auto i = static_cast<size_t>(cast - passed.begin());
  if (!is(passed, i + 1, "(")) return {};
  const bool first = is(passed, i + 2, "&") && is(passed, i + 4, "[") && is(passed, i + 5, "0");
  const bool data = is(passed, i + 3, ".") && is(passed, i + 4, "data");
  return first || data ? std::string(passed[i + (first ? 3 : 2)].text) : "";
}

// `ns::Scale<4>` of `ns::Scale<4>{…}` and `Scale(…)`, if it is a class of the source.
std::optional<std::string> made_type(const ReadSource& source, const std::vector<CppToken>& passed) {
  const CppBrackets brackets(passed);
  size_t name = 0;
  while (is(passed, name + 1, ":") && is(passed, name + 2, ":")) name += 3;
  if (name >= passed.size() || !source.cuda.classes.contains(std::string(passed[name].text))) return std::nullopt;
  const size_t open = is(passed, name + 1, "<") ? brackets.behind_angles(name + 1) : name + 1;
  if (!is(passed, open, "{") && !is(passed, open, "(")) return std::nullopt;
  std::string type = text_of(passed, 0, open);
  return brackets.closing(open) + 1 == passed.size() && !type.empty() ? std::optional(std::move(type)) : std::nullopt;
}

}  // namespace

std::map<std::string, std::string> deduced_types(const ReadSource& source, const SourceKernel& kernel,
                                                 const SourceLaunch* launch) {
  std::map<std::string, std::string> found;
  if (!launch || launch->at > source.text.size()) return found;
  for (const SourceParameter& parameter : kernel.parameters) {
    const bool of_template = std::ranges::count(kernel.template_parameters, parameter.type, &TemplateParameter::name);
    if (!of_template) continue;
    const std::string argument = argument_of(kernel, launch, parameter).text;
    const std::vector<CppToken> passed = cpp_tokens(argument);
    if (parameter.pointer) {
      const std::string name = passed_pointer(argument).name;
      const bool cast = argument.find("_cast") != std::string::npos || argument.starts_with("(");
      auto type = name.empty() || cast ? std::nullopt : pointed_to(source, name, launch->at);
      if (const std::string vector = vector_in(passed); !vector.empty()) type = vector_of(source, vector, launch->at);
      if (type) found.emplace(parameter.type, std::move(*type));
      continue;
    }
    if (auto type = made_type(source, passed)) found.emplace(parameter.type, std::move(*type));
    if (passed.size() != 1 || passed[0].kind != CppToken::Kind::word) continue;
    if (auto type = declared_type(source, passed[0].text, launch->at)) found.emplace(parameter.type, std::move(*type));
  }
  return found;
}

}  // namespace attnscope::catalog
