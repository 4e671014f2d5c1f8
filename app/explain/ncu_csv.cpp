#include "explain/ncu_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "explain/rules.h"

namespace attnscope::explain {
namespace {

// The cells of one line. Quoted cells may contain commas and doubled quotes, but no line ends, because ncu writes none.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

bool is_absent(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return value.empty() || value == "n/a" || value == "nan";
}

}  // namespace

Result<std::vector<Finding>> findings_of_ncu(std::string_view csv, const std::string& where) {
  size_t name = 0, value = 0;
  bool header = false;
  std::set<std::string> absent;
  while (!csv.empty()) {
    const size_t end = csv.find('\n');
    const std::vector<std::string> cells = cells_of(csv.substr(0, end));
    csv.remove_prefix(end == csv.npos ? csv.size() : end + 1);
    if (header) {
      if (cells.size() > std::max(name, value) && !cells[name].empty() && is_absent(cells[value]))
        absent.insert(cells[name]);
      continue;
    }
    const auto named = std::ranges::find(cells, "Metric Name"), valued = std::ranges::find(cells, "Metric Value");
    header = named != cells.end() && valued != cells.end();
    if (!header) continue;  // ncu's messages before the table
    name = static_cast<size_t>(named - cells.begin());
    value = static_cast<size_t>(valued - cells.begin());
  }
  if (!header)
    return fail(Stage::input, where + ": there is no line with \"Metric Name\" and \"Metric Value\"",
                "Give the output of `ncu --csv`.");
  std::vector<Finding> findings;
  for (const std::string& metric : absent)
    findings.push_back(note(RuleId::metric_absent, Severity::warning,
                            fmt::format("{} was not collected, which does not mean that it is zero. The device may not "
                                        "have it under this name: `ncu --query-metrics` lists those it has.",
                                        metric),
                            {}));
  return findings;
}

}  // namespace attnscope::explain
