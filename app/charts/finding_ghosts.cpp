#include "charts/finding_ghosts.h"

#include <algorithm>
#include <string>

#include "core/comparable.h"
#include "core/where_of.h"

namespace attnscope::charts {
namespace {

// True if the run's watch found it.
bool is_watched(const Observation& run, const Finding& finding) {
  return run.watch && std::ranges::any_of(run.watch->findings, [&](const Finding& one) { return &one == &finding; });
}

// `one_source`: the two runs ran it.
bool are_alike(const Finding& one, const Finding& other, bool one_source) {
  if (one.rule != other.rule) return false;
  const auto same = [&](const char* key) { return where_of(one, key) == where_of(other, key); };
  return !one_source || (same("file") && same("line"));
}

bool any_like(const std::vector<const Finding*>& of, const Finding& finding, bool one_source) {
  return std::ranges::any_of(of, [&](const Finding* one) { return are_alike(*one, finding, one_source); });
}

// The one that is like the finding; null: none is, or several are.
const Finding* only_like(const std::vector<const Finding*>& of, const Finding& finding, bool one_source) {
  const Finding* found = nullptr;
  for (const Finding* one : of) {
    if (!are_alike(*one, finding, one_source)) continue;
    if (found != nullptr) return nullptr;
    found = one;
  }
  return found;
}

// The same figure; null: there is none.
const Evidence* same_in(const std::vector<Evidence>& all, const Evidence& figure) {
  const auto found = std::ranges::find_if(all, [&](const Evidence& one) {
    return one.name == figure.name && one.unit == figure.unit && one.kind == figure.kind;
  });
  return found != all.end() ? &*found : nullptr;
}

bool of_one_source(const Observation& one, const Observation& other) {
  return one.experiment.kernel_hash == other.experiment.kernel_hash;
}

}  // namespace

bool has_like(const Observation& run, const Finding& finding, const Observation& other) {
  return any_like(all_findings(run), finding, of_one_source(run, other));
}

std::vector<FindingRow> finding_rows_beside(const Observation& b, const Observation* a) {
  std::vector<FindingRow> rows = finding_rows(b);
  if (a == nullptr) return rows;
  const bool one_source = of_one_source(*a, b), times = comparable(*a, b) == Unlike::none;
  const std::vector<const Finding*> of_a = all_findings(*a), of_b = all_findings(b);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Finding* const like = only_like(of_a, *of_b[i], one_source);
    if (like == nullptr || only_like(of_b, *of_b[i], one_source) == nullptr) continue;
    for (size_t at = 0; at < rows[i].evidence.size(); ++at) {
      const Evidence& figure = of_b[i]->evidence[at];
      if (times || figure.kind == FigureKind::counted)
        rows[i].evidence[at] = evidence_text(figure, same_in(like->evidence, figure));
    }
  }
  return rows;
}

std::vector<bool> since_a(const Observation& b, const Observation* a) {
  const std::vector<const Finding*> of_b = all_findings(b);
  std::vector<bool> since(of_b.size(), false);
  if (a == nullptr) return since;
  const std::vector<const Finding*> of_a = all_findings(*a);
  for (size_t i = 0; i < of_b.size(); ++i)
    since[i] = (a->watch || !is_watched(b, *of_b[i])) && !any_like(of_a, *of_b[i], of_one_source(*a, b));
  return since;
}

std::vector<const Finding*> gone_since(const Observation& a, const Observation& b) {
  const std::vector<const Finding*> of_b = all_findings(b);
  std::vector<const Finding*> gone = all_findings(a);
  std::erase_if(gone, [&](const Finding* one) {
    return says_where(*one) || (!b.watch && is_watched(a, *one)) || any_like(of_b, *one, of_one_source(a, b));
  });
  return gone;
}

}  // namespace attnscope::charts
