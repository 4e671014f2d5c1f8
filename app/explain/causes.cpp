#include "explain/causes.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/helpers.h"
#include "explain/rules.h"

namespace attnscope::explain {
namespace {

Finding* find(std::vector<Finding>& findings, RuleId rule) {
  const auto found = std::ranges::find(findings, Rule(rule), &Finding::rule);
  return found == findings.end() ? nullptr : &*found;
}

void link(Finding& finding, const Finding& cause, const std::string& how) {
  finding.where["because"] = cause.rule.name();
  finding.sentence += " " + how;
}

double estimated(const Finding& finding) { return finding.gain ? finding.gain->estimated.value_or(0) : 0; }

// What would remove a cause is in the source, but nothing calls it. helper.unused is one finding for all functions; its
// place is that of the one with the highest gain.
void link_helper(const Facts& facts, std::vector<Finding>& findings) {
  Finding* const unused = find(findings, RuleId::helper_unused);
  if (unused == nullptr) return;
  const std::vector<UnusedHelper> helpers = unused_helpers(facts.kernel);
  double highest = -1;
  for (const RuleOf& rule : all_rules()) {
    const auto helper = std::ranges::find_if(helpers, [&](const UnusedHelper& one) { return one.brings(rule.wants); });
    Finding* const finding = find(findings, rule.id);
    if (helper == helpers.end() || finding == nullptr || finding->next) continue;
    link(*finding, *unused,
         fmt::format("{}() at {}:{} {}, but nothing calls it.", helper->name, helper->place.file, helper->place.line,
                     rule.wants == Wants::layout ? "permutes by XOR, as a swizzle does" : "makes products by mma"));
    finding->where["function"] = helper->name;
    if (estimated(*finding) <= highest) continue;
    highest = estimated(*finding);
    unused->where["function"] = helper->name;
    put_place(*unused, helper->place);
  }
}

void link_tail(const Facts& facts, std::vector<Finding>& findings) {
  Finding* const tail = find(findings, RuleId::grid_tail);
  const Finding* const low = find(findings, RuleId::occupancy_low);
  if (tail == nullptr || low == nullptr || !one_more_cta_holds_the_grid(facts)) return;
  link(*tail, *low, "With one more CTA on each SM it would be one wave.");
}

}  // namespace

void link_causes(const Facts& facts, std::vector<Finding>& findings) {
  link_helper(facts, findings);
  link_tail(facts, findings);
}

}  // namespace attnscope::explain
