#include "cli/disasm_text.h"

#include <fmt/format.h>

#include "core/escape.h"
#include "core/joined.h"
#include "core/source_lines.h"
#include "core/words.h"

namespace attnscope::cli {
namespace {

using charts::HeatColumn;

constexpr size_t kAround = 2;  // unchanged lines around a change

std::string headings(const std::vector<HeatColumn>& columns) {
  std::string out;
  for (const HeatColumn column : columns) out += fmt::format("{:>9}", charts::heading_of(column));
  return out;
}

std::string cells(const charts::Heat& heat, const std::vector<HeatColumn>& columns) {
  std::string out;
  for (const HeatColumn column : columns) out += fmt::format("{:>9}", heat.text(column));
  return out;
}

}  // namespace

std::vector<HeatColumn> columns_of(const charts::CodeView& view) {
  std::vector<HeatColumn> columns;
  for (const HeatColumn column : charts::kHeatColumns)
    if (view.has(column)) columns.push_back(column);
  return columns;
}

std::string sass_text(const Listing& listing, const charts::CodeView& view, const std::vector<int64_t>& order) {
  const std::vector<HeatColumn> columns = columns_of(view);
  std::string out = fmt::format("{:>6}{}  {:<20} {}\n", "addr", headings(columns), "waits", "instruction");
  for (const int64_t at : order) {
    const CodeLine& line = listing.lines[static_cast<size_t>(at)];
    out += one_line(fmt::format("{:>6x}{}  {:<20} {:<48} {}", at * 16,
                                cells(view.instructions[static_cast<size_t>(at)], columns),
                                charts::control_text(line.control), line.text, charts::places_text(listing, line))) +
           "\n";
  }
  return out;
}

std::string lines_text(const Kernel& kernel, const charts::CodeView& view, const std::vector<int64_t>& order) {
  const std::vector<HeatColumn> columns = columns_of(view);
  std::vector<std::string_view> texts;
  for (std::string_view rest = kernel.source; !rest.empty();) {
    const size_t end = rest.find('\n');
    texts.push_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  std::string out = one_line(fmt::format("{:>6}{}  {}", "line", headings(columns), kernel.source_name)) + "\n";
  const SourceLines source(kernel.source_name, kernel.source);
  std::string file;  // the current file, if there are several
  for (const int64_t number : order) {
    const auto at = static_cast<size_t>(number) - 1;
    const SourcePlace place = source.place_of(number);
    const bool elsewhere = source.has_directives() && place.file != file;
    if (elsewhere) out += one_line(fmt::format("{:>6}{}  {}", "", cells({}, columns), file = place.file)) + "\n";
    out += one_line(fmt::format("{:>6}{}  {}", place.line, cells(view.lines[at], columns),
                                at < texts.size() ? texts[at] : std::string_view())) +
           "\n";
  }
  return out;
}

int64_t own_line(const Listing& listing, const CodeLine& code, const Kernel& kernel) {
  for (const CodePlace& place : code.places)
    if (listing.files[static_cast<size_t>(place.file)] == kernel.source_name) return place.line;
  return 0;
}

std::string lines_hint(const std::string& which, const std::set<int64_t>& lines) {
  return which + ": " + joined(lines, [](int64_t line) { return std::to_string(line); }) + ".";
}

std::string counted_text(const Listing& listing) {
  if (!listing.counted) return "Nothing is counted: the code did not run in the emulator.";
  return listing.emulated_ctas == listing.total_ctas
             ? fmt::format("Counted over all {} CTAs; time is modelled.", listing.total_ctas)
             : fmt::format("Counted over {} of {} CTAs; time is modelled for all.", listing.emulated_ctas,
                           listing.total_ctas);
}

std::string diff_text(const std::string& title, const charts::CodeDiff& diff, const std::vector<std::string>& a,
                      const std::vector<std::string>& b) {
  std::string out = fmt::format("{}: {} removed, {} added\n", title, diff.removed, diff.added);
  size_t next = 0;
  for (const size_t at : charts::changed_rows(diff, kAround)) {
    if (at != next) out += "  ...\n";
    next = at + 1;
    const charts::DiffRow& row = diff.rows[at];
    const char mark = row.side == charts::DiffSide::same ? ' ' : row.side == charts::DiffSide::removed ? '-' : '+';
    const std::string& text = row.b >= 0 ? b[static_cast<size_t>(row.b)] : a[static_cast<size_t>(row.a)];
    out += one_line(fmt::format("{} {}", mark, text)) + "\n";
  }
  return out;
}

}  // namespace attnscope::cli
