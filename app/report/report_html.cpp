// A report as one page without scripts, external fonts or external pictures; its picture is inline.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/escape.h"
#include "report/rbk_report.h"

namespace attnscope::report {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,Helvetica,Arial,sans-serif;color:#1f2430;background:#fff;margin:2rem auto;"
    "max-width:72rem;padding:0 1rem}"
    "h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}"
    ".about,.why,figcaption{color:#5b6475;font-size:.85rem}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{text-align:right;padding:.35rem .6rem;border-bottom:1px solid #d8dce4;vertical-align:top}"
    "th{border-bottom:2px solid #5b6475;font-weight:600}"
    "th:first-child,td:first-child,.text{text-align:left}"
    ".passes{color:#15683a;font-weight:600}.fails{color:#a3200d;font-weight:600}.unknown{color:#5b6475;font-weight:600}"
    ".best td{background:#eef4fb}.none td{color:#5b6475}"
    "figure{margin:0}svg{max-width:100%;height:auto}"
    "@media print{body{margin:0}h2{break-after:avoid}tr{break-inside:avoid}}";

std::string element(const char* name, const std::string& inside, const char* cls = "") {
  const std::string is = *cls != '\0' ? fmt::format(" class=\"{}\"", cls) : "";
  return fmt::format("<{}{}>{}</{}>", name, is, inside, name);
}

std::string cell(const std::string& text, const char* cls = "") { return element("td", xml_text(text), cls); }

// A column's name, and whether it holds text, which is aligned left.
using Column = std::pair<std::string, bool>;

std::string head(const std::vector<Column>& columns) {
  std::string out;
  for (const auto& [name, is_text] : columns) out += element("th", xml_text(name), is_text ? "text" : "");
  return element("thead", element("tr", out));
}

std::string table(const std::string& head, const std::string& rows) {
  return element("div", element("table", head + element("tbody", rows)), "wide") + "\n";
}

std::string gate_cell(const Gate& gate) {
  const char* cls = !gate.passed ? "unknown" : *gate.passed ? "passes" : "fails";
  const char* word = !gate.passed ? "? not known" : *gate.passed ? "✓ passes" : "✗ fails";
  return element("td", element("span", word, cls) + element("div", xml_text(gate.why), "why"), "text");
}

std::string gates_table(const RbkReport& report) {
  std::vector<Column> columns{{"kernel", true}, {"all", true}};
  constexpr auto& kinds = Words<GateKind>::table;
  for (const auto& [kind, word] : kinds) columns.emplace_back(to_string(kind), true);
  std::string rows;
  for (const Merge& merge : report.merges) {
    const Entry& entry = report.bench.entries[merge.entry];
    std::string row = cell(entry.label + (entry.baseline ? " (baseline)" : ""));
    row += element("td", merge.passes() ? "✓" : "✗", merge.passes() ? "passes text" : "fails text");
    for (const auto& [kind, word] : kinds) {
      const auto gate = std::ranges::find(merge.gates, kind, &Gate::kind);
      row += gate != merge.gates.end() ? gate_cell(*gate) : cell("", "text");
    }
    rows += element("tr", row) + "\n";
  }
  return table(head(columns), rows);
}

std::string us_cell(const Cell& of) {
  std::string inside = xml_text(us_text(of.p50));
  if (of.interval)
    inside += element("div", xml_text(us_text(of.interval->low) + " to " + us_text(of.interval->high)), "why");
  return element("td", inside);
}

std::string timed_row(const RbkReport& report, const RbkCell& at, bool best) {
  const Cell& of = *at.cell;
  const auto ratio = [&](const Ratio* one) { return one != nullptr ? ratio_text(*one, of.kind) : std::string(); };
  std::string row =
      element("td", xml_text(report.bench.entries[at.entry].label) + element("div", xml_text(of.config), "why"));
  row +=
      us_cell(of) + cell(us_text(of.p90)) + cell(std::string(to_string(of.kind)), "text") +
      cell(fmt::format("{:.3g}", of.tflops)) + cell(ratio(at.to_peer)) + cell(ratio(at.to_baseline)) +
      cell(std::string(to_string(of.verdict)) + (of.error ? fmt::format(", max error {:.2g}", of.error->max_abs) : ""),
           "text");
  return element("tr", row, best ? "best" : "") + "\n";
}

std::string shape_section(const RbkReport& report, const std::vector<RbkCell>& cells, const RbkShape& shape) {
  const RbkCell* fastest = nullptr;
  for (const RbkCell& at : cells)
    if (at.shape == &shape && at.cell->state == CellState::timed &&
        (fastest == nullptr || at.cell->p50 < fastest->cell->p50))
      fastest = &at;
  std::string rows, problem, notes;
  for (const RbkCell& at : cells) {
    if (at.shape != &shape) continue;
    if (problem.empty())
      for (const std::string& note : config_notes(report.bench, *at.row))
        notes += element("p", xml_text(note), "about");
    problem = problem_text(at.row->problem);
    if (at.cell->state == CellState::timed)
      rows += timed_row(report, at, &at == fastest);
    else
      rows += "<tr class=\"none\">" + cell(report.bench.entries[at.entry].label) + "<td class=\"text\" colspan=\"7\">" +
              xml_text(fmt::format("{}: {}", to_string(at.cell->state), at.cell->reason)) + "</td></tr>\n";
  }
  return element("h2", xml_text(shape.name + ": " + problem)) + "\n" +
         table(head({{"kernel", true},
                     {"p50 us", false},
                     {"p90 us", false},
                     {"kind", true},
                     {"TFLOP/s", false},
                     {"to SDPA", false},
                     {"to the baseline", false},
                     {"verdict", true}}),
               rows) +
         notes;
}

}  // namespace

std::string as_html(const RbkReport& report) {
  const BenchReport& bench = report.bench;
  const std::string device = bench.device_name.empty() ? bench.device : bench.device_name;
  const std::string title = "Attention kernels on " + device;
  const auto cells = cells_of(report);
  std::string body = element("h1", xml_text(title)) + element("p", xml_text(footnote(bench)), "about") + "\n";
  body += "<h2>Gates</h2>\n" + gates_table(report);
  for (const RbkShape& shape : report.config.shapes) body += shape_section(report, cells, shape);
  body += "<h2>All times</h2>\n<figure>" + as_svg(bench) + "</figure>\n";
  body +=
      element("p",
              "A ratio is the other's time over this one's: above 1, this one is faster. \"To SDPA\" is to the "
              "fastest of PyTorch's backends that was timed. A tie is a ratio whose 95 % interval contains 1. Times "
              "are the kernel's own, without the host's call. The fastest of a shape is shaded.",
              "about");
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>"
         "<meta name=\"viewport\" content=\"width=device-width\"/>" +
         element("title", xml_text(title)) + element("style", kStyle) + "</head>\n" + element("body", body) +
         "</html>\n";
}

}  // namespace attnscope::report
