#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/observation.h"
#include "core/rule.h"
#include "core/scan.h"

namespace attnscope::charts {

// How much a cure saves of a run of `us`; `time` formats times: "estimated 120 us less (1.20 times); tried: 1.14
// times". `us` 0: unknown. A cure that costs time gives "tried: slower".
std::string gain_text(const Gain& gain, double us, std::string (*time)(double));

// The result of a config that was run beside another one.
struct Tried {
  std::string words;  // "tried: 1.23 times", "tried: slower"
  std::string why;    // details; may be empty
  int better = 0;     // +1: faster; -1: slower, or no usable result; 0: neither
};
Tried tried_text(const Observation& base, const Observation& run);
// The result of a scan of one config, compared with the observation of its held experiment; empty if it has not ended.
Tried tried_text(const Observation& base, const Scan& scan, size_t point);

// "bank conflicts 74.7 %, counted"; with A's value of the same figure "bank conflicts 74.7 % (A 12.1 %), counted".
std::string evidence_text(const Evidence& evidence, const Evidence* a = nullptr);

// A finding in the window: what it is, the figures behind it, where it is, and what to try.
struct FindingRow {
  FindingGroup group = FindingGroup::other;
  Severity severity = Severity::info;
  std::string sentence;
  std::vector<std::string> evidence;  // evidence_text()
  std::string gain;                   // gain_text(), or empty
  std::string file;
  int64_t line = 0;                     // 0: no line
  std::map<std::string, int64_t> next;  // knobs to set; empty: no proposal
};
// "BLOCK_M 16, SYNC_POLICY cta". `kernel` null: values are numbers.
std::string set_words(const Next& next, const Kernel* kernel);
// Errors, then the watch's warnings, then the observation's own findings in their order, then the watch's notes.
std::vector<const Finding*> all_findings(const Observation& seen);
std::vector<FindingRow> finding_rows(const Observation& seen);  // of all_findings()

// The findings about one thing. A long list is read by group, and of each only the first are shown at once.
struct FindingsOfGroup {
  static constexpr size_t kFew = 3;
  FindingGroup group = FindingGroup::other;
  std::vector<size_t> at;  // places in the list, in its order
};
// The group of the first finding comes first.
std::vector<FindingsOfGroup> by_group(const std::vector<const Finding*>& findings);
std::vector<FindingsOfGroup> by_group(const std::vector<FindingRow>& rows);

// Findings that hang together: one causes another, one change cures them, or one rule has several.
struct Cause {
  static constexpr size_t kFew = 3;        // shown before all findings
  std::vector<const Finding*> findings{};  // in the list's order
  const Gain* gain() const;                // the highest; null: none is known
  const Next* next() const;                // of the first finding that proposes something; null: none does
  // "a, b", each once.
  std::string names(std::string (*name)(const Rule&)) const;
};
// By their first finding. Those that only say where the time goes are left out: says_where().
std::vector<Cause> causes(const std::vector<const Finding*>& findings);
bool says_where(const Finding& finding);

}  // namespace attnscope::charts
