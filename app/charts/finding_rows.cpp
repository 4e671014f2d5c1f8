#include "charts/finding_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "charts/format.h"
#include "charts/standing.h"
#include "core/headline.h"
#include "core/joined.h"
#include "core/number_text.h"
#include "core/where_of.h"

namespace attnscope::charts {
namespace {

constexpr std::string_view kMicroseconds = "us";  // as rules name it

std::string value_text(const Evidence& evidence) {
  // A time is written as every other one of the window.
  if (evidence.unit == kMicroseconds) return us_text(evidence.value);
  return fmt::format("{}{}{}", number_text(evidence.value), evidence.unit.empty() ? "" : " ", evidence.unit);
}

std::string times_text(double ratio) { return fmt::format("{:.2f} times", ratio); }

FindingRow row_of(const Finding& finding, double us) {
  FindingRow row;
  row.group = finding.rule.group();
  row.severity = finding.severity;
  row.sentence = finding.sentence;
  for (const Evidence& one : finding.evidence) row.evidence.push_back(evidence_text(one));
  if (finding.gain) row.gain = gain_text(*finding.gain, us, us_text);
  row.file = where_of(finding, "file");
  row.line = std::atoll(where_of(finding, "line").c_str());
  if (finding.next) row.next = finding.next->set;
  return row;
}

template <class List, class GroupOf>
std::vector<FindingsOfGroup> in_groups(const List& list, GroupOf group_of) {
  std::vector<FindingsOfGroup> all;
  for (size_t at = 0; at < list.size(); ++at) {
    const FindingGroup group = group_of(list[at]);
    auto found = std::ranges::find(all, group, &FindingsOfGroup::group);
    if (found == all.end()) found = all.insert(all.end(), {group, {}});
    found->at.push_back(at);
  }
  return all;
}

bool causes_other(const Finding& cause, const Finding& other) {
  return where_of(other, "because") == cause.rule.name() && where_of(other, "function") == where_of(cause, "function");
}

// True if the two findings of a run have one cause, as far as they say.
bool hang_together(const Finding& a, const Finding& b) {
  if (where_of(a, "launch") != where_of(b, "launch")) return false;
  const bool one_change = a.next && b.next && !a.next->set.empty() && a.next->set == b.next->set;
  return a.rule == b.rule || one_change || causes_other(a, b) || causes_other(b, a);
}

double gain_of(const Finding& finding) {
  return finding.gain ? finding.gain->tried.value_or(finding.gain->estimated.value_or(0)) : 0;
}

}  // namespace

std::string evidence_text(const Evidence& evidence, const Evidence* a) {
  return fmt::format("{} {}{}, {}", evidence.name, value_text(evidence),
                     a != nullptr ? " (A " + value_text(*a) + ")" : "", to_string(evidence.kind));
}

std::string gain_text(const Gain& gain, double us, std::string (*time)(double)) {
  std::string text;
  if (gain.estimated) {
    text = "estimated " + time(*gain.estimated) + " less";
    if (us > *gain.estimated) text += " (" + times_text(us / (us - *gain.estimated)) + ")";
  }
  if (!gain.tried) return text;
  text += text.empty() ? "tried: " : "; tried: ";
  if (*gain.tried < 0) return text + "slower";
  return text + (us > *gain.tried ? times_text(us / (us - *gain.tried)) : time(*gain.tried) + " less");
}

Tried tried_text(const Observation& base, const Observation& run) {
  if (run.failure) return {"tried: it fails", run.failure->message, -1};
  if (const auto headline = headline_of(run); headline && is_fault(*headline))
    return {fmt::format("tried: {}", to_string(*headline)), "Its time does not count.", -1};
  const Standing standing = standing_of(base, run);
  switch (standing.outcome) {
    case Outcome::faster:
      return {"tried: " + times_text(1 / standing.ratio), verdict_text(standing), 1};
    case Outcome::slower:
      return {"tried: slower", verdict_text(standing), -1};
    case Outcome::tie:
    case Outcome::not_comparable:
      break;
  }
  return {fmt::format("tried: {}", to_string(standing.outcome)), verdict_text(standing), 0};
}

Tried tried_text(const Observation& base, const Scan& scan, size_t point) {
  if (const auto& refused = scan.points.at(point).refused) return {"tried: it cannot run", refused->message, -1};
  const Observation* run = scan.timed(point);
  return run != nullptr ? tried_text(base, *run) : Tried{};
}

std::string set_words(const Next& next, const Kernel* kernel) {
  return joined(next.set, [&](const auto& set) {
    const Knob* knob = kernel != nullptr ? kernel->find_knob(set.first) : nullptr;
    return set.first + " " + (knob != nullptr ? knob->text_of(set.second) : std::to_string(set.second));
  });
}

std::vector<const Finding*> all_findings(const Observation& seen) {
  std::vector<const Finding*> all;
  const auto add_watched = [&](bool notes) {
    if (!seen.watch) return;
    for (const Finding& finding : seen.watch->findings)
      if ((finding.severity == Severity::info) == notes) all.push_back(&finding);
  };
  add_watched(false);
  const size_t first = all.size();
  for (const Finding& finding : seen.findings) all.push_back(&finding);
  // A watch finds needless barriers, but they are causes of the run's time, and take their place by gain.
  if (seen.watch)
    for (const Finding& finding : seen.watch->needless) {
      const auto behind = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                                       [&](const Finding* one) { return gain_of(*one) < gain_of(finding); });
      all.insert(behind, &finding);
    }
  add_watched(true);
  std::ranges::stable_partition(all, [](const Finding* one) { return one->severity == Severity::error; });
  return all;
}

std::vector<FindingRow> finding_rows(const Observation& seen) {
  const double us = seen.timing ? seen.timing->p50 : 0;
  std::vector<FindingRow> rows;
  for (const Finding* finding : all_findings(seen)) rows.push_back(row_of(*finding, us));
  return rows;
}

std::vector<FindingsOfGroup> by_group(const std::vector<const Finding*>& findings) {
  return in_groups(findings, [](const Finding* one) { return one->rule.group(); });
}

std::vector<FindingsOfGroup> by_group(const std::vector<FindingRow>& rows) {
  return in_groups(rows, [](const FindingRow& row) { return row.group; });
}

bool says_where(const Finding& finding) {
  return finding.rule.id() == RuleId::phase_most || finding.rule.id() == RuleId::bound_roof;
}

const Gain* Cause::gain() const {
  const auto found = std::ranges::find_if(findings, [](const Finding* one) { return one->gain.has_value(); });
  return found == findings.end() ? nullptr : &*(*found)->gain;
}

const Next* Cause::next() const {
  const auto found =
      std::ranges::find_if(findings, [](const Finding* one) { return one->next && !one->next->set.empty(); });
  return found == findings.end() ? nullptr : &*(*found)->next;
}

std::string Cause::names(std::string (*name)(const Rule&)) const {
  std::vector<std::string> all;
  for (const Finding* one : findings)
    if (std::string words = name(one->rule); std::ranges::find(all, words) == all.end())
      all.push_back(std::move(words));
  return joined(all);
}

std::vector<Cause> causes(const std::vector<const Finding*>& findings) {
  std::vector<Cause> all;
  for (const Finding* finding : findings) {
    if (says_where(*finding)) continue;
    const auto joins = [&](const Cause& other) {
      return std::ranges::any_of(other.findings, [&](const Finding* one) { return hang_together(*one, *finding); });
    };
    const auto first = std::ranges::find_if(all, joins);
    if (first == all.end()) {
      all.push_back({{finding}});
      continue;
    }
    // It may join several to one.
    for (auto later = first + 1; later != all.end();) {
      if (!joins(*later)) {
        ++later;
        continue;
      }
      first->findings.insert(first->findings.end(), later->findings.begin(), later->findings.end());
      later = all.erase(later);
    }
    first->findings.push_back(finding);
    std::ranges::sort(first->findings, {},
                      [&](const Finding* one) { return std::ranges::find(findings, one) - findings.begin(); });
  }
  return all;
}

}  // namespace attnscope::charts
