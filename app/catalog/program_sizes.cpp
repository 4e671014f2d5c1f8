#include "catalog/program_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/import_sizes.h"
#include "catalog/stand_in_size.h"

namespace attnscope::catalog {
namespace {

constexpr int kDeepestSize = 4;  // names that stand for names
constexpr size_t kMostSizes = 64;
constexpr int64_t kThreads = 256, kElements = 1024;

}  // namespace

void ProgramSizes::find() {
  for (const ProgramLaunch& one : launches_) {
    one.enter(scope_);
    const SourceKernel& kernel = *one.part->kernel;
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
      if (!is_size_type(kernel.parameters[i], scope_)) continue;
      Depths followed;
      find_in({one.part->launch->arguments[i], one.part->at}, one, 0, followed);
    }
  }
  size_t unknown = 0;
  for (const Size& one : candidates_) unknown += !value_of(one).first;
  for (const Size& one : candidates_) {
    const auto value = value_of(one).first;
    enter(one);
    scope_.set_size(one.name, value.value_or(usual_value(one, unknown)), one.host);
  }
  std::vector<Size> sizes;
  for (const Size& one : candidates_)
    if (!follows(one)) sizes.push_back(one);
  for (const Size& one : sizes) {
    const int64_t now = scope_.kept[one.name];
    values_[one.name] = now;
    names_.push_back(one.name);
    const auto [value, certain] = value_of(one);
    if (value && certain)
      imported_.read.push_back(fmt::format("{} is {} in the host code", one.name, *value));
    else
      imported_.guessed.push_back(
          fmt::format("the size {} = {}{}", one.name, now, value ? ", as elsewhere in the host code" : ""));
  }
  if (!names_.empty()) return;
  names_.emplace_back(kStandInSize);
  values_[kStandInSize] = scope_.kept[kStandInSize] = kElements;
  guess_stand_in(kElements, imported_);
}

// A definition is followed again only if fewer names lead to it.
void ProgramSizes::find_in(const HostText& text, const ProgramLaunch& launch, int depth, Depths& followed) {
  const auto tokens = cpp_tokens(text.text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const CppToken& token = tokens[i];
    if (token.kind != CppToken::Kind::word || candidates_.size() >= kMostSizes) continue;
    if (i + 1 < tokens.size() && (tokens[i + 1].is(".") || tokens[i + 1].is("-"))) {
      const bool member = tokens[i + 1].is(".") || (i + 2 < tokens.size() && tokens[i + 2].is(">"));
      if (member) continue;  // x.size(0) does not name x
    }
    const std::string word(token.text);
    if (scope_.kept.contains(word) || launch.templates.contains(word) || source_.cuda.macros.contains(word)) continue;
    const auto* const local = source_.cuda.constants.find(word, text.at);
    if (local && local->end != SIZE_MAX && depth < kDeepestSize && local->value != word) {
      const auto [known, fresh] = followed.try_emplace(local->at, depth);
      if (fresh || depth < known->second) {
        known->second = depth;
        find_in({local->value, local->at}, launch, depth + 1, followed);
      }
    }
    const HostText host = scope_.in_function({word, text.at}, program_.function());
    const bool parameter = !host.text.empty() && std::ranges::count(program_.function().parameters, host.text) > 0;
    const bool passed_as_it_is = depth == 0 && tokens.size() == 1;
    if (host.text.empty() || (!parameter && !passed_as_it_is)) continue;
    const size_t defined = scope_.definition(host.text, host.at);
    const bool known = std::ranges::any_of(
        candidates_, [&](const Size& one) { return one.host == host.text && one.defined == defined; });
    if (known) continue;
    std::string name = host.text;
    while (std::ranges::find(candidates_, name, &Size::name) != candidates_.end()) name += "_";
    candidates_.push_back({name, host.text, host.at, defined, launch.templates});
  }
}

void ProgramSizes::enter(const Size& size) {
  scope_.templates = size.templates;
  scope_.used_at = size.at;
}

// A number of threads is not a length.
int64_t ProgramSizes::usual_value(const Size& size, size_t unknown) const {
  const bool threads = std::ranges::any_of(launches_, [&](const ProgramLaunch& one) {
    return one.part->launch->block == size.host && source_.host.function_at(one.part->at) == &program_.function();
  });
  return threads ? kThreads : usual_size(size.name, unknown);
}

// Its value in the host code, and whether it is certain.
std::pair<std::optional<int64_t>, bool> ProgramSizes::value_of(const Size& size) {
  enter(size);
  scope_.take_guessed();
  const auto value = scope_.number_of(size.host);
  const bool certain = !scope_.take_guessed();
  if (!value || *value <= 0) return {std::nullopt, false};
  return {value, certain};
}

// True if the host code computes it from other sizes, which it then follows.
bool ProgramSizes::follows(const Size& size) {
  enter(size);
  const int64_t now = scope_.kept[size.name];
  scope_.forget_size(size.name);
  const std::string formula = scope_.in_terms(HostText{size.host, size.at});
  const auto tokens = cpp_tokens(formula);
  const bool named = std::ranges::any_of(tokens, [&](const CppToken& token) {
    return std::ranges::any_of(candidates_,
                               [&](const Size& one) { return token.is(one.name) && one.name != size.name; });
  });
  if (!named) scope_.set_size(size.name, now, size.host);
  return named;
}

}  // namespace attnscope::catalog
