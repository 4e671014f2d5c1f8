#include "catalog/host_scope.h"

#include <algorithm>

#include "catalog/element_types.h"

namespace attnscope::catalog {
namespace {

constexpr int kDeepest = 8;  // of names that stand for names

}  // namespace

// Knobs and sizes keep their names if the manifest can express them.
HostNames HostScope::names(bool keep) const {
  return {.kept = [this, keep](const std::string& name) -> std::optional<int64_t> {
            const auto found = kept.find(name);
            return keep && found != kept.end() ? std::optional(found->second) : std::nullopt;
          },
          .meaning = [this](const std::string& name) -> std::string {
            if (const auto argument = templates.find(name); argument != templates.end()) return argument->second;
            if (const std::string* constant = source_.constants.find(name, used_at)) return *constant;
            const auto macro = source_.macros.find(name);
            return macro == source_.macros.end() ? "" : macro->second;
          },
          .bytes_of = [this](const std::string& type) -> std::optional<int64_t> {
            const auto element = element_of(resolved_type(type));
            return element ? std::optional(bytes_of(element->type) * element->lanes) : std::nullopt;
          }};
}

std::optional<int64_t> HostScope::number_of(const std::string& expression) const {
  const auto value = host_value(expression, names(false));
  return value ? std::optional(value->now) : std::nullopt;
}

std::string HostScope::in_terms(const std::string& expression) const {
  const auto value = host_value(expression, names(true));
  return value && value->now >= 0 ? value->text : "";
}

std::string HostScope::constant_or_itself(const std::string& word) const {
  std::string value = word;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const std::string* constant = source_.constants.find(value, used_at);
    if (!constant) break;
    value = *constant;
  }
  return value;
}

std::string HostScope::resolved_type(std::string type) const {
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (const auto argument = templates.find(type); argument != templates.end())
      type = argument->second;
    else if (const auto alias = source_.types.find(type); alias != source_.types.end())
      type = alias->second;
    else if (const auto macro = source_.macros.find(type); macro != source_.macros.end())
      type = macro->second;
    else
      break;
  }
  return type;
}

bool HostScope::stands_alone(const std::string& value) const {
  return std::ranges::none_of(cpp_tokens(value), [&](const CppToken& token) {
    return source_.parameter_names.contains(std::string(token.text)) || token.is("(");
  });
}

}  // namespace attnscope::catalog
