#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "catalog/validate.h"
#include "core/code_file.h"
#include "core/cpp_tokens.h"
#include "core/joined.h"
#include "explain/helpers.h"
#include "explain/rules.h"
#include "explain/words.h"

namespace attnscope::explain {
namespace {

// An error this many times that of fp32 accumulation is due to half precision.
constexpr double kHalfError = 1.5;

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
  const Uses uses(tokens);
  for (const Knob& knob : facts.kernel.knobs) {
    if (uses.of(knob.name) > 0 || launch_names(facts.kernel, knob.name)) continue;
    Finding finding = note(RuleId::knob_unused, Severity::warning,
                           fmt::format("{} changes nothing: neither the source nor the launch uses it.", knob.name),
                           {counted("uses of the knob", 0)});
    finding.where["file"] = facts.kernel.source_name;
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> helper_unused(const Facts& facts) {
  constexpr size_t kNamed = 4;
  const std::vector<UnusedHelper> unused = unused_helpers(facts.kernel);
  if (unused.empty()) return std::nullopt;
  const std::string names = joined(std::span(unused).first(std::min(kNamed, unused.size())),
                                   [](const UnusedHelper& one) { return one.name + "()"; });
  const std::string others = unused.size() > kNamed ? fmt::format(" and {} more", unused.size() - kNamed) : "";
  const bool is_one = unused.size() == 1;
  Finding finding = note(RuleId::helper_unused, Severity::info,
                         fmt::format("{}{} {} defined, but nothing calls {}.", names, others, is_one ? "is" : "are",
                                     is_one ? "it" : "them"),
                         {counted("functions that nothing calls", double(unused.size()))});
  put_place(finding, unused.front().place);
  return finding;
}

constexpr RuleOf kSourceRules[] = {
    {RuleId::error_half, error_half, "What helps: accumulate in fp32."},
    {RuleId::knob_unused, knob_unused, ""},
    {RuleId::helper_unused, helper_unused, "Either it is left over, or a call is missing."}};

}  // namespace

std::span<const RuleOf> source_rules() { return kSourceRules; }

}  // namespace attnscope::explain
