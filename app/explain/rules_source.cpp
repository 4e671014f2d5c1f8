#include <fmt/format.h>

#include <algorithm>

#include "catalog/validate.h"
#include "core/code_file.h"
#include "core/cpp_tokens.h"
#include "core/source_lines.h"
#include "explain/rules.h"
#include "explain/words.h"

namespace attnscope::explain {
namespace {

// An error this many times that of fp32 accumulation is due to half precision.
constexpr double kHalfError = 1.5;

// How often code uses the word, without preprocessor lines that define a default for it.
int uses(const std::vector<CppToken>& tokens, std::string_view word) {
  int count = 0;
  for (const CppToken& token : tokens) {
    if (token.kind == CppToken::Kind::word) count += token.text == word;
    if (token.kind != CppToken::Kind::line || !names(token.text, word)) continue;
    const bool sets = token.text.find("ifndef") != token.text.npos || token.text.find("undef") != token.text.npos ||
                      names(token.text, "define " + std::string(word));
    count += !sets;
  }
  return count;
}

// Empty for a kernel that is machine code.
std::string_view source_of(const Kernel& kernel) {
  return is_machine_code(kernel.source) ? std::string_view() : kernel.source;
}

bool includes_own_files(const std::vector<CppToken>& tokens) {
  return std::ranges::any_of(tokens, [](const CppToken& token) {
    return token.kind == CppToken::Kind::line && token.text.find("include") != token.text.npos &&
           token.text.find('"') != token.text.npos;
  });
}

// The name of the function that begins with the `__device__` at `i`; empty for a variable or a declaration.
std::string_view function_at(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t i) {
  for (; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is(";") || tokens[i].is("{") || tokens[i].is("=")) return {};
    if (!tokens[i + 1].is("(") || tokens[i].kind != CppToken::Kind::word) continue;
    const size_t close = brackets.closing(i + 1);
    if (tokens[i].text.starts_with("__")) {  // an attribute with arguments
      i = close;
      continue;
    }
    return close + 1 < tokens.size() && tokens[close + 1].is("{") ? tokens[i].text : std::string_view();
  }
  return {};
}

int line_of(std::string_view source, size_t at) {
  return 1 + static_cast<int>(std::ranges::count(source.substr(0, at), '\n'));
}

bool launch_names(const Kernel& kernel, const std::string& knob) {
  std::vector<std::string> texts;
  const auto add = [&](const LaunchExpressions& launch, const std::vector<SharedPart>& shared_map) {
    texts.insert(texts.end(), {launch.dynamic_shared, launch.static_shared});
    texts.insert(texts.end(), std::begin(launch.grid), std::end(launch.grid));
    texts.insert(texts.end(), std::begin(launch.block), std::end(launch.block));
    for (const SharedPart& part : shared_map) texts.push_back(part.bytes);
  };
  add(kernel.launch, kernel.shared_map);
  for (const ProgramStep& step : kernel.steps) add(step.launch, step.shared_map);
  return std::ranges::any_of(texts, [&](const std::string& text) { return names(text, knob); });
}

}  // namespace

std::optional<Finding> error_half(const Facts& facts) {
  const auto& verdict = facts.seen.verdict;
  if (!verdict || verdict->rows_checked == 0 || verdict->naive_rel_frobenius <= 0) return std::nullopt;
  const Config& config = facts.seen.experiment.config;
  const auto accumulate = catalog::accumulate_of(facts.kernel, config);
  if (!accumulate || *accumulate != Accumulate::f16) return std::nullopt;
  const double times = verdict->rel_frobenius / verdict->naive_rel_frobenius;
  if (times < kHalfError) return std::nullopt;
  Finding finding =
      note(RuleId::error_half, times > 2 ? Severity::warning : Severity::info,
           fmt::format("The kernel accumulates in fp16: its error is {:.3g} times that of a plain fp32 kernel.", times),
           {counted("relative Frobenius error", verdict->rel_frobenius),
            counted("of a plain fp32 kernel", verdict->naive_rel_frobenius)});
  for (const Knob& knob : facts.kernel.knobs)
    for (const KnobValue& value : knob.values) {
      Config other = config;
      other.knobs[knob.name] = value.value;
      const auto better = catalog::accumulate_of(facts.kernel, other);
      if (better && *better == Accumulate::f32) finding.next = Next{{{knob.name, value.value}}};
    }
  return finding;
}

std::optional<Finding> knob_unused(const Facts& facts) {
  const auto tokens = cpp_tokens(source_of(facts.kernel));
  if (tokens.empty() || includes_own_files(tokens)) return std::nullopt;
  for (const Knob& knob : facts.kernel.knobs) {
    if (uses(tokens, knob.name) > 0 || launch_names(facts.kernel, knob.name)) continue;
    Finding finding = note(RuleId::knob_unused, Severity::warning,
                           fmt::format("{} changes nothing: neither the source nor the launch uses it.", knob.name),
                           {counted("uses of the knob", 0)});
    finding.where["file"] = facts.kernel.source_name;
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> helper_unused(const Facts& facts) {
  const std::string_view source = source_of(facts.kernel);
  const auto tokens = cpp_tokens(source);
  const CppBrackets brackets(tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__device__")) continue;
    const std::string_view name = function_at(tokens, brackets, i + 1);
    if (name.empty() || name == "operator" || uses(tokens, name) > 1) continue;
    Finding finding = note(RuleId::helper_unused, Severity::info,
                           fmt::format("{}() is defined, but nothing calls it.", name), {counted("calls", 0)});
    const SourcePlace place = SourceLines(facts.kernel.source_name, source).place_of(line_of(source, tokens[i].at));
    finding.where["file"] = place.file;
    finding.where["line"] = std::to_string(place.line);
    return finding;
  }
  return std::nullopt;
}

}  // namespace attnscope::explain
