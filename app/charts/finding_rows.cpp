#include "charts/finding_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "charts/format.h"

namespace attnscope::charts {
namespace {

std::string where(const Finding& finding, const char* key) {
  const auto found = finding.where.find(key);
  return found == finding.where.end() ? "" : found->second;
}

std::string evidence_text(const Evidence& evidence) {
  const std::string value = fmt::format("{:.4g}", evidence.value);
  return fmt::format("{} {}{}{}, {}", evidence.name, value, evidence.unit.empty() ? "" : " ", evidence.unit,
                     to_string(evidence.kind));
}

// A gain that is no gain says so.
std::string gain_text(const Gain& gain) {
  if (gain.tried)
    return *gain.tried < 0 ? "tried: " + us_text(-*gain.tried) + " slower" : "tried: " + us_text(*gain.tried) + " less";
  return gain.estimated ? "estimated gain " + us_text(*gain.estimated) : "";
}

FindingRow row_of(const Finding& finding) {
  FindingRow row;
  row.severity = finding.severity;
  row.sentence = finding.sentence;
  for (const Evidence& evidence : finding.evidence) row.evidence.push_back(evidence_text(evidence));
  if (finding.gain) row.gain = gain_text(*finding.gain);
  row.file = where(finding, "file");
  row.line = std::atoll(where(finding, "line").c_str());
  if (finding.next) row.next = finding.next->set;
  return row;
}

}  // namespace

std::vector<FindingRow> finding_rows(const Observation& seen) {
  std::vector<FindingRow> rows;
  for (const Finding& finding : seen.findings) rows.push_back(row_of(finding));
  if (seen.watch)
    for (const Finding& finding : seen.watch->findings) rows.push_back(row_of(finding));
  std::stable_partition(rows.begin(), rows.end(),
                        [](const FindingRow& row) { return row.severity == Severity::error; });
  return rows;
}

}  // namespace attnscope::charts
