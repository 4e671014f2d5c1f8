#include "explain/rules.h"

#include <fmt/format.h>

namespace attnscope::explain {
namespace {

void put(Finding& finding, const Instruction* at) {
  if (at == nullptr) return;
  if (at->line > 0) put_place(finding, {at->file, at->line});
  if (!at->phase.empty()) finding.where["phase"] = at->phase;
}

}  // namespace

Finding note(RuleId rule, Severity severity, std::string sentence, std::vector<Evidence> evidence,
             const Instruction* at) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.sentence = std::move(sentence);
  finding.evidence = std::move(evidence);
  put(finding, at);
  return finding;
}

std::optional<Finding> costs(const Facts& facts, RuleId rule, double saved, std::string sentence,
                             std::vector<Evidence> evidence, const Instruction* at) {
  const double share = time_us(facts) > 0 ? saved / time_us(facts) : 0;
  if (share < kSilent) return std::nullopt;
  Finding finding =
      note(rule, share >= kWarning ? Severity::warning : Severity::info, std::move(sentence), std::move(evidence), at);
  finding.gain = Gain{saved, std::nullopt};
  return finding;
}

void put_place(Finding& finding, const SourcePlace& place) {
  finding.where["file"] = place.file;
  finding.where["line"] = std::to_string(place.line);
}

Evidence counted(std::string name, double value, std::string unit) {
  return {std::move(name), value, std::move(unit), FigureKind::counted};
}
Evidence modelled(std::string name, double value, std::string unit) {
  return {std::move(name), value, std::move(unit), FigureKind::modelled};
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string place(const Instruction& at) {
  return at.line > 0 ? fmt::format("{}:{}", at.file, at.line) : "an unknown line";
}

}  // namespace attnscope::explain
