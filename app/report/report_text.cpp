// A report as text: for a terminal, and as Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "core/command_words.h"
#include "core/escape.h"
#include "report/bench_report.h"
#include "report/markdown.h"

namespace attnscope::report {

std::string markdown_line(const std::vector<std::string>& line) {
  std::string text = "|";
  for (const std::string& cell : line) text += " " + markdown_text(cell) + " |";
  return text + "\n";
}

std::string rule(size_t columns) {
  std::string text = "| --- |";
  for (size_t i = 1; i < columns; ++i) text += " ---: |";
  return text + "\n";
}

// "1.31x" after a time, relative to the fastest peer in that row.

namespace {

using Line = std::vector<std::string>;

// Columns that a terminal uses: continuation bytes of UTF-8 take no space.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string kind_of(const BenchReport& report, const Row& row) {
  bool measured = false, modelled = false;
  for (const Cell& cell : row.cells)
    if (cell.state == CellState::timed) (cell.kind == FigureKind::measured ? measured : modelled) = true;
  const std::string where =
      report.device_name.empty() ? report.device : report.device_name + " (" + report.device + ")";
  if (measured && modelled) return "measured and modelled, " + where;
  return (measured ? "measured on " : modelled ? "modelled for " : "nothing timed on ") + where;
}

std::string heading(const BenchReport& report, const Row& row) {
  return fmt::format("{}, {}, {}; us", problem_text(row.problem), to_string(row.cache), kind_of(report, row));
}

// The peers that were timed in this row; each gets a column of ratios.
std::vector<size_t> peers_of(const BenchReport& report, const Row& row) {
  std::vector<size_t> peers;
  for (size_t i = 0; i < row.cells.size(); ++i)
    if (report.entries[i].peer && row.cells[i].state == CellState::timed) peers.push_back(i);
  return peers;
}

Line head_of(const BenchReport& report, const std::vector<size_t>& peers) {
  Line head{"", "p10", "p50", "p90", "95 % of p50", "TFLOP/s"};
  for (const size_t peer : peers) head.push_back("vs " + report.entries[peer].label);
  head.push_back("verdict");
  return head;
}

Line line_of(const Entry& entry, const Cell& cell, const std::vector<size_t>& peers) {
  Line line{entry.label};
  if (cell.state != CellState::timed) {
    line.push_back(fmt::format("{}: {}", to_string(cell.state), cell.reason));
    return line;
  }
  const std::string interval = cell.interval
                                   ? fmt::format("{} to {}", us_text(cell.interval->low), us_text(cell.interval->high))
                               : cell.kind == FigureKind::measured ? "one pass"
                                                                   : "modelled";
  for (const std::string& text :
       {us_text(cell.p10), us_text(cell.p50), us_text(cell.p90), interval, fmt::format("{:.3g}", cell.tflops)})
    line.push_back(text);
  for (const size_t peer : peers) {
    const Ratio* ratio = ratio_to(cell, peer);
    line.push_back(ratio ? ratio_text(*ratio, cell.kind) : "");
  }
  line.emplace_back(to_string(cell.verdict));
  return line;
}

void put_line(std::string& out, const Line& line, const std::vector<size_t>& widths) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const size_t wide = i < widths.size() ? widths[i] : 0;
    const size_t blanks = wide > width_of(line[i]) ? wide - width_of(line[i]) : 0;
    // Figures are aligned right, text left. A reason fills the rest of its line.
    const bool figure = i > 0 && i + 1 < widths.size() && line.size() > 2;
    text += "  " + (figure ? std::string(blanks, ' ') + line[i] : line[i] + std::string(blanks, ' '));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  out += text + "\n";
}

std::string ladder_cell(const BenchReport& report, const Row& row, size_t entry) {
  const Cell& cell = row.cells[entry];
  if (cell.state != CellState::timed) return std::string(to_string(cell.state));
  std::string text = us_text(cell.p50);
  const auto peer = best_peer(report, row);
  const Ratio* ratio = peer ? ratio_to(cell, *peer) : nullptr;
  if (ratio)
    text += ratio->tie()         ? " (tie)"
            : ratio->ratio < 0.1 ? fmt::format(" ({:.2g}x)", ratio->ratio)
                                 : fmt::format(" ({:.2f}x)", ratio->ratio);
  return text;
}

std::string ladder_of(const BenchReport& report) {
  const bool any_hot =
      std::any_of(report.rows.begin(), report.rows.end(), [](const Row& row) { return row.cache == CacheState::hot; });
  const CacheState cache = any_hot ? CacheState::hot : CacheState::cold;
  std::vector<const Row*> rows;
  for (const Row& row : report.rows)
    if (row.cache == cache) rows.push_back(&row);
  if (rows.empty()) return "";
  Line head{"us, " + std::string(to_string(cache)) + ", " + kind_of(report, *rows.front())};
  for (const Row* row : rows) head.push_back(problem_text(row->problem));
  std::string text = markdown_line(head) + rule(head.size());
  bool against = false;
  for (size_t entry = 0; entry < report.entries.size(); ++entry) {
    Line line{report.entries[entry].label};
    for (const Row* row : rows) {
      line.push_back(ladder_cell(report, *row, entry));
      against |= best_peer(report, *row).has_value();
    }
    text += markdown_line(line);
  }
  if (against) text += "\nIn brackets: the fastest peer's time over this one's; above 1, this one is faster.\n";
  return text;
}

}  // namespace

std::string footnote(const BenchReport& report) {
  std::string text = "attnscope " + report.versions.app;
  if (!report.versions.nvrtc.empty()) text += ", NVRTC " + report.versions.nvrtc;
  if (!report.versions.driver.empty()) text += ", driver " + report.versions.driver;
  if (report.blocks > 0)
    text += fmt::format(", {} passes in turn over all entries of a row, {} ms each", report.blocks, report.block_ms);
  if (!report.date.empty()) text += ", " + report.date;
  std::vector<std::string> told;  // the backends of one library share a version
  for (const Entry& entry : report.entries) {
    if (entry.version.empty() || std::ranges::count(told, entry.version) > 0) continue;
    told.push_back(entry.version);
    text += fmt::format("; {}: {}", entry.kernel, entry.version);
  }
  return text;
}

std::vector<std::string> config_notes(const BenchReport& report, const Row& row) {
  const std::string best = fmt::format(
      "`{}`", shell_text({"attnscope", "best", "--problem", problem_words(row.problem), "--device", report.device}));
  std::vector<std::pair<std::string, std::string>> notes;  // what is said, of which entries
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    std::string said;
    if (cell.config_from == ConfigFrom::nearest && cell.tuned_for)
      said = fmt::format("the config tuned for {}, the nearest tuned problem; {} looks for this problem's own",
                         problem_text(*cell.tuned_for), best);
    else if (cell.config_from == ConfigFrom::untuned)
      said =
          fmt::format("the default config: no tuned config fits this problem on this device; {} looks for one", best);
    else
      continue;
    const auto same = std::ranges::find(notes, said, &std::pair<std::string, std::string>::first);
    if (same == notes.end())
      notes.emplace_back(said, report.entries[i].label);
    else
      same->second += ", " + report.entries[i].label;
  }
  std::vector<std::string> lines;
  for (const auto& [said, labels] : notes) lines.push_back(labels + ": " + said);
  return lines;
}

std::string as_table(const BenchReport& report) {
  std::string out;
  for (const Row& row : report.rows) {
    const auto peers = peers_of(report, row);
    std::vector<Line> lines{head_of(report, peers)};
    for (size_t i = 0; i < row.cells.size(); ++i) lines.push_back(line_of(report.entries[i], row.cells[i], peers));
    for (Line& line : lines)
      for (std::string& cell : line) cell = one_line(cell);
    std::vector<size_t> widths(lines.front().size(), 0);
    for (const Line& line : lines)
      for (size_t i = 0; i < line.size() && (line.size() > 2 || i == 0); ++i)
        widths[i] = std::max(widths[i], width_of(line[i]));
    out += one_line(heading(report, row)) + "\n";
    for (const Line& line : lines) put_line(out, line, widths);
    for (const std::string& note : config_notes(report, row)) out += "  " + one_line(note) + "\n";
    out += "\n";
  }
  return out + one_line(footnote(report)) + "\n";
}

std::string as_ladder(const BenchReport& report) {
  return ladder_of(report) + "\n" + markdown_text(footnote(report)) + "\n";
}

std::string as_markdown(const BenchReport& report) {
  std::string out = ladder_of(report);
  for (const Row& row : report.rows) {
    const auto peers = peers_of(report, row);
    const Line head = head_of(report, peers);
    out += "\n**" + markdown_text(heading(report, row)) + "**\n\n" + markdown_line(head) + rule(head.size());
    for (size_t i = 0; i < row.cells.size(); ++i) {
      Line line = line_of(report.entries[i], row.cells[i], peers);
      const bool refused = line.size() == 2 && head.size() != 2;
      if (refused) {  // the reason goes into the last, left-aligned column
        const std::string reason = line.back();
        line.resize(head.size());
        line[1].clear();
        line.back() = reason;
      }
      out += markdown_line(line);
    }
    for (const std::string& note : config_notes(report, row)) out += "\n" + markdown_text(note) + "\n";
  }
  return out + "\n" + markdown_text(footnote(report)) + "\n";
}

}  // namespace attnscope::report
