#include "catalog/source_macros.h"

#include <algorithm>
#include <cstdint>

#include "catalog/source_text.h"
#include "core/text.h"

namespace attnscope::catalog {
namespace {

using Tokens = std::vector<CppToken>;
using TokenKind = CppToken::Kind;

// A hostile file may have more than a manifest can contain.
constexpr size_t kMostIncluded = 1000;
constexpr size_t kMostConditions = 8;  // that a kernel needs

bool is_launch(const Tokens& line, size_t at) {
  return at + 2 < line.size() && line[at].is("<") && line[at + 1].is("<") && line[at + 2].is("<");
}

}  // namespace

std::optional<SourceMacros::Launching> SourceMacros::read(std::string_view text, bool behind_code) {
  const Tokens line = cpp_tokens(text);
  if (line.empty()) return std::nullopt;
  if ((behind_code || line[0].is("include")) && !conditions_.empty() && !conditions_.back().has_ended)
    conditions_.back().has_code = true;
  track_conditions(line);
  compiled_.read(text, defined_);
  if (line.size() < 2) return std::nullopt;
  if (line[0].is("include") && out_.included.size() < kMostIncluded) {
    std::string_view name = text.substr(line[1].at);
    name = name.substr(0, name.find_first_of("\">", 1));
    out_.included.emplace(name.substr(std::min(name.size(), name.find_first_not_of("<\""))));
  }
  if (line[0].is("ifndef")) guarded_ = std::string(line[1].text);
  if (!line[0].is("define")) return std::nullopt;
  define(line);
  for (size_t at = 2; at < line.size(); ++at)
    if (is_launch(line, at)) return Launching{line[1].text, text.substr(line[1].end())};
  return std::nullopt;
}

std::vector<std::string> SourceMacros::needed() const {
  std::vector<std::string> names;
  for (size_t k = 0; k < conditions_.size() && k < kMostConditions; ++k)
    if (!conditions_[k].needs.empty()) names.push_back(conditions_[k].needs);
  return names;
}

// #ifdef X and #if defined(X) need X; other conditions are ignored.
void SourceMacros::track_conditions(const Tokens& line) {
  if (line[0].is("ifdef") || line[0].is("if") || line[0].is("ifndef")) {
    const bool is_defined = line[0].is("if") && line.size() >= 3 && line[1].is("defined");
    const size_t name = line[0].is("ifdef") ? 1 : is_defined && line[2].is("(") ? 3 : is_defined ? 2 : SIZE_MAX;
    const bool only = is_defined ? line.size() == (name == 3 ? 5u : 3u) : true;
    conditions_.push_back({name < line.size() && only ? std::string(line[name].text) : "",
                           line[0].is("ifndef") && line.size() > 1 ? std::string(line[1].text) : ""});
  } else if ((line[0].is("else") || line[0].is("elif")) && !conditions_.empty()) {
    conditions_.back().needs.clear();
    conditions_.back().has_ended = true;
  } else if (line[0].is("endif") && !conditions_.empty()) {
    close();
  }
}

// The guard of a header that is read twice is not a default: a file that sets its macro gets nothing of the header.
void SourceMacros::close() {
  const Open last = std::move(conditions_.back());
  conditions_.pop_back();
  if (last.has_code && last.value != SIZE_MAX) out_.settable[last.value].first.clear();
  if (last.has_code && !conditions_.empty() && !conditions_.back().has_ended) conditions_.back().has_code = true;
}

void SourceMacros::define(const Tokens& line) {
  const std::string name(line[1].text);
  const bool function = line.size() > 2 && line[2].is("(") && line[2].at == line[1].end();
  for (size_t at = 3; function && at < line.size() && !line[at].is(")"); ++at)
    if (line[at].kind == TokenKind::word) out_.parameter_names.insert(std::string(line[at].text));
  const std::string value = function ? "" : text_of(line, 2, line.size());
  const bool compiled = compiled_.kept();
  if (compiled) defined_[name] = value;
  if (function || line.size() == 2) return;
  add(name, value, compiled);
  if (const auto number = number_of<int64_t>(value); number && name == guarded_) {
    if (!conditions_.empty() && conditions_.back().guarded == name) conditions_.back().value = out_.settable.size();
    out_.settable.emplace_back(name, *number);
  }
}

// A definition that is not compiled by default serves where there is no other. Of several that are the last counts; a
// name that has two of them, or none, is unsure.
void SourceMacros::add(const std::string& name, const std::string& value, bool compiled) {
  const auto [found, fresh] = out_.macros.try_emplace(name, value);
  const bool was_sure = !fresh && !out_.unsure_macros.contains(name);
  if (!compiled && !fresh) return;
  if (!compiled || (was_sure && found->second != value))
    out_.unsure_macros.insert(name);
  else if (compiled && !was_sure && !redefined_.contains(name))
    out_.unsure_macros.erase(name);
  if (compiled && was_sure && found->second != value) redefined_.insert(name);
  found->second = value;
}

}  // namespace attnscope::catalog
