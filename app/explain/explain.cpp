#include "explain/explain.h"

#include <algorithm>
#include <tuple>

#include "catalog/choices.h"
#include "explain/causes.h"
#include "explain/rules.h"

namespace attnscope::explain {
namespace {

// By the table of rules (core/rule.h), in whose order findings stand that gain nothing.
std::vector<RuleOf> made_rules() {
  std::vector<RuleOf> all;
  for (const auto& some : {warp_rules(), memory_rules(), place_rules(), unit_rules(), source_rules()})
    all.insert(all.end(), some.begin(), some.end());
  std::ranges::sort(all, {}, &RuleOf::id);
  return all;
}

// Adds to the finding what helps, and the knob that does it.
void advise(const Facts& facts, const RuleOf& rule, Finding& finding) {
  if (rule.helps.empty()) return;
  finding.sentence += " " + std::string(rule.helps);
  if (finding.next) return;
  const auto found = proposal(facts, rule.wants);
  if (!found) return;
  finding.next = found->next;
  if (finding.gain && finding.gain->estimated)
    *finding.gain->estimated = std::max(*finding.gain->estimated * found->share, found->saved);
}

}  // namespace

std::span<const RuleOf> all_rules() {
  static const std::vector<RuleOf> all = made_rules();
  return all;
}

std::vector<Config> neighbours(const Kernel& kernel, const Problem& problem, const Config& config,
                               const DeviceSpec& spec) {
  std::vector<Config> configs;
  for (const catalog::KnobChoice& choice : catalog::choices(kernel, problem, config, spec)) {
    if (choice.chosen || !choice.legal || !choice.warnings.empty()) continue;
    configs.push_back(config);
    configs.back().knobs[choice.knob] = choice.value;
  }
  return configs;
}

Next difference(const Config& from, const Config& to) {
  Next next;
  for (const auto& [knob, value] : to.knobs) {
    const auto held = from.knobs.find(knob);
    if (held == from.knobs.end() || held->second != value) next.set[knob] = value;
  }
  return next;
}

std::vector<Finding> findings_of(const Facts& facts) {
  std::vector<Finding> findings;
  for (const RuleOf& rule : all_rules()) {
    auto finding = rule.look(facts);
    if (!finding) continue;
    advise(facts, rule, *finding);
    findings.push_back(std::move(*finding));
  }
  link_causes(facts, findings);
  rank(findings);
  return findings;
}

void rank(std::vector<Finding>& findings) {
  const auto key = [](const Finding& one) {
    const double gain = one.gain ? one.gain->tried.value_or(one.gain->estimated.value_or(0)) : 0;
    return std::tuple(one.severity != Severity::error, -gain, one.severity != Severity::warning);
  };
  std::ranges::stable_sort(findings, {}, key);
}

}  // namespace attnscope::explain
