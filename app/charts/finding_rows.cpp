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

FindingRow row_of(const Finding& finding) {
  FindingRow row;
  row.severity = finding.severity;
  row.sentence = finding.sentence;
  for (const Evidence& evidence : finding.evidence) row.evidence.push_back(evidence_text(evidence));
  if (finding.est_gain_us) row.gain = "estimated gain " + us_text(*finding.est_gain_us);
  row.file = where(finding, "file");
  row.line = std::atoll(where(finding, "line").c_str());
  row.next = finding.next_set;
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
