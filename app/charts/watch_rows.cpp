#include "charts/watch_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/where_of.h"

namespace attnscope::charts {
namespace {

// "02_tiled.cu:203, 218", with the earlier access first.
std::string places(const Finding& finding) {
  const std::string file = where_of(finding, "file"), line = where_of(finding, "line");
  const std::string other_file = where_of(finding, "other_file"), other = where_of(finding, "other_line");
  if (file.empty()) return "";
  if (other.empty() || (other == line && other_file == file)) return fmt::format(": {}:{}", file, line);
  if (other_file == file) return fmt::format(": {}:{}, {}", file, other, line);
  return fmt::format(": {}:{}, {}:{}", other_file, other, file, line);
}

std::string headline(const Finding& finding) {
  const std::string buffer = where_of(finding, "buffer"), in = buffer.empty() ? "" : " in " + buffer;
  const std::string says(finding.rule.says());
  if (says.empty()) return finding.sentence;
  if (finding.rule.headline() != Headline::luck) return says + in + places(finding);
  if (finding.evidence.size() == 2) {
    const double changed = finding.evidence[0].value, tried = finding.evidence[1].value;
    return fmt::format("{}: {} of {} {} change the output",
                       finding.severity == Severity::error ? "Right by luck" : "Not the same every time", changed,
                       tried, says);
  }
  return finding.sentence;
}

}  // namespace

std::vector<WatchRow> watch_rows(const WatchReport& report) {
  std::vector<WatchRow> rows;
  for (const Finding& finding : report.findings)
    rows.push_back({headline(finding), finding.sentence, finding.severity == Severity::error, where_of(finding, "file"),
                    std::atoll(where_of(finding, "line").c_str()), &finding});
  std::stable_partition(rows.begin(), rows.end(), [](const WatchRow& row) { return row.error; });
  return rows;
}

std::string watch_share_text(const WatchReport& report) {
  const std::string ctas = report.ctas < report.total_ctas
                               ? fmt::format("{} of {} CTAs", report.ctas, report.total_ctas)
                               : fmt::format("all {} CTAs", report.ctas);
  return fmt::format("{}, {} contents of shared memory, {} orders of the warps", ctas, report.fills, report.orders);
}

}  // namespace attnscope::charts
