#include "explain/tried.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/comparable.h"
#include "core/joined.h"
#include "core/number_text.h"
#include "explain/explain.h"
#include "explain/rules.h"

namespace attnscope::explain {
namespace {

// A cure works if the cause's share of the time falls below this part of what it was.
constexpr double kClearlyLess = 0.7;

// The launch of a program that the finding belongs to; empty if the kernel has only one.
std::string launch_of(const Finding& finding) {
  const auto found = finding.where.find("launch");
  return found == finding.where.end() ? "" : found->second;
}

// The same finding in another run; for a program, that of the same launch.
const Finding* find(const Observation& in, const Finding& like) {
  const auto found = std::ranges::find_if(
      in.findings, [&](const Finding& one) { return one.rule == like.rule && launch_of(one) == launch_of(like); });
  return found == in.findings.end() ? nullptr : &*found;
}

bool is_sound(const Observation& one) {
  return !one.failure && one.timing && (!one.verdict || one.verdict->state != VerdictState::wrong) &&
         (!one.watch || !one.watch->has_errors());
}

// The finding's cause as a share of the time. Absolute times would mislead, because a faster run has less of
// everything.
double share_of(const Observation& one, const Finding* finding) {
  if (finding == nullptr) return 0;
  return finding->gain ? finding->gain->estimated.value_or(0) / one.timing->p50 : 1;
}

bool is_weaker(const Observation& there, const Observation& here, const Finding& finding) {
  return share_of(there, find(there, finding)) <= kClearlyLess * share_of(here, &finding);
}

std::string set_text(const Next& next) {
  return joined(
      next.set, [](const auto& one) { return fmt::format("{}={}", one.first, one.second); }, " ");
}

bool same_code(const Observation& a, const Observation& b) {
  return a.variant && b.variant && !a.variant->code_hash.empty() && a.variant->code_hash == b.variant->code_hash;
}

void propose(const Observation& base, const std::vector<Observation>& tried, Finding& finding) {
  const Observation* fastest = nullptr;
  for (const Observation& one : tried) {
    if (!is_sound(one) || comparable(base, one) != Unlike::none || !is_weaker(one, base, finding)) continue;
    if (fastest == nullptr || one.timing->p50 < fastest->timing->p50) fastest = &one;
  }
  finding.next.reset();
  if (fastest == nullptr || fastest->timing->p50 >= base.timing->p50) return;
  finding.next = difference(base.experiment.config, fastest->experiment.config);
  if (!finding.gain) finding.gain.emplace();
  finding.gain->tried = base.timing->p50 - fastest->timing->p50;
}

Finding identical(const std::string& sets) {
  return note(RuleId::code_identical, Severity::info,
              fmt::format("{} the same machine code: whatever is measured between the two is noise.",
                          sets.empty() ? "Both runs have" : sets + " gives"),
              {});
}

bool has_interval(const Timing& timing) { return timing.interval_high > timing.interval_low; }

// Why the two times do not show which is faster.
std::optional<Finding> times(const Observation& a, const Observation& b) {
  if (!a.timing || !b.timing) return std::nullopt;
  const Timing &first = *a.timing, &second = *b.timing;
  if (const Unlike unlike = comparable(a, b); unlike != Unlike::none)
    return note(RuleId::times_unlike, Severity::warning,
                fmt::format("{} us {} and {} us {} are not a pair: {}. Time both in one run and in one way.",
                            number_text(first.p50), to_string(first.kind), number_text(second.p50),
                            to_string(second.kind), to_string(unlike)),
                {{"A", first.p50, "us", first.kind}, {"B", second.p50, "us", second.kind}});
  if (first.kind != FigureKind::measured) return std::nullopt;  // a model gives one time for one code
  const std::vector<Evidence> evidence{{"A, from", first.interval_low, "us", first.kind},
                                       {"A, to", first.interval_high, "us", first.kind},
                                       {"B, from", second.interval_low, "us", second.kind},
                                       {"B, to", second.interval_high, "us", second.kind}};
  if (!has_interval(first) || !has_interval(second))
    return note(RuleId::times_tie, Severity::info,
                "A time without an interval is one sample: a difference to another run is not a finding.", evidence);
  if (first.interval_high < second.interval_low || second.interval_high < first.interval_low) return std::nullopt;
  return note(RuleId::times_tie, Severity::info,
              "The intervals of the two times overlap: the runs do not say which is faster.", evidence);
}

}  // namespace

void take_tried(Observation& base, const std::vector<Observation>& tried) {
  if (base.timing)
    for (Finding& finding : base.findings)
      if (finding.gain) propose(base, tried, finding);
  std::vector<std::string> same;
  for (const Observation& one : tried)
    if (same_code(base, one)) same.push_back(set_text(difference(base.experiment.config, one.experiment.config)));
  if (!same.empty()) base.findings.push_back(identical(joined(same, {}, " or ")));
  rank(base.findings);
}

std::vector<Finding> changes(const Observation& a, const Observation& b) {
  std::vector<Finding> findings;
  if (auto compared = times(a, b)) findings.push_back(std::move(*compared));
  if (same_code(a, b)) findings.push_back(identical(set_text(difference(a.experiment.config, b.experiment.config))));
  return findings;
}

void put_changes_first(const Observation& a, Observation& b) {
  std::vector<Finding> all = changes(a, b);
  std::ranges::move(b.findings, std::back_inserter(all));
  b.findings = std::move(all);
}

}  // namespace attnscope::explain
