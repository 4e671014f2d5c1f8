#include "charts/code_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "charts/format.h"
#include "core/joined.h"
#include "core/sampled_line.h"

namespace attnscope::charts {
namespace {

constexpr double kLanes = 32;

int64_t line_in(const Finding& finding, const char* file_key, const char* line_key, const SourceLines& source) {
  const auto where = finding.where.find(file_key), line = finding.where.find(line_key);
  if (where == finding.where.end() || line == finding.where.end()) return 0;
  int64_t number = 0;
  std::from_chars(line->second.data(), line->second.data() + line->second.size(), number);
  return source.text_line(where->second, number);
}

void add_races(std::vector<Heat>& lines, const WatchReport& report, const SourceLines& source) {
  for (const Finding& finding : report.findings) {
    if (finding.rule.headline() != Headline::race) continue;
    const int64_t one = line_in(finding, "file", "line", source);
    const int64_t other = line_in(finding, "other_file", "other_line", source);
    for (const int64_t line : {one, other == one ? 0 : other})
      if (line > 0 && static_cast<size_t>(line) <= lines.size()) ++lines[static_cast<size_t>(line) - 1].races;
  }
}

void add_samples(std::vector<Heat>& lines, const std::vector<Finding>& findings, const SourceLines& source) {
  for (const Finding& finding : findings) {
    const auto line = sampled_line_of(finding);
    const int64_t at = line ? source.text_line(line->file, line->line) : 0;
    if (at > 0 && static_cast<size_t>(at) <= lines.size())
      lines[static_cast<size_t>(at) - 1].samples += static_cast<double>(line->samples);
  }
}

std::array<double, kHeatColumns.size()> hottest(const std::vector<Heat>& all) {
  std::array<double, kHeatColumns.size()> most{};
  for (const Heat& heat : all)
    for (const HeatColumn column : kHeatColumns) most[size_t(column)] = std::max(most[size_t(column)], heat.of(column));
  return most;
}

std::vector<int64_t> hot(const std::vector<Heat>& all, HeatColumn column, int64_t first) {
  std::vector<int64_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int64_t at) { return all[static_cast<size_t>(at)].of(column) <= 0; });
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](int64_t at) { return all[static_cast<size_t>(at)].of(column); });
  for (int64_t& at : order) at += first;
  return order;
}

std::string scoreboards(int mask) {
  std::vector<int> set;
  for (int at = 0; at < 6; ++at)
    if ((mask >> at & 1) != 0) set.push_back(at);
  return joined(set, [](int at) { return std::to_string(at); });
}

}  // namespace

const char* heading_of(HeatColumn column) {
  switch (column) {
    case HeatColumn::time:
      return "time";
    case HeatColumn::samples:
      return "samples";
    case HeatColumn::instructions:
      return "instr";
    case HeatColumn::lanes:
      return "lanes";
    case HeatColumn::wavefronts:
      return "wavefr";
    case HeatColumn::conflicts:
      return "confl";
    case HeatColumn::sectors:
      return "sectors";
    case HeatColumn::races:
      return "races";
  }
  return "";
}

double Heat::of(HeatColumn column) const {
  switch (column) {
    case HeatColumn::time:
      return us;
    case HeatColumn::samples:
      return samples;
    case HeatColumn::instructions:
      return instructions;
    case HeatColumn::lanes:
      return instructions * kLanes - lanes;
    case HeatColumn::wavefronts:
      return wavefronts;
    case HeatColumn::conflicts:
      return conflicts;
    case HeatColumn::sectors:
      return sectors;
    case HeatColumn::races:
      return static_cast<double>(races);
  }
  return 0;
}

std::string Heat::text(HeatColumn column) const {
  if (column == HeatColumn::lanes) return instructions > 0 ? fmt::format("{:.1f}", lanes / instructions) : "";
  const double figure = of(column);
  constexpr double kLeastUs = 0.005;  // smaller times are written as zero
  if (figure <= (column == HeatColumn::time ? kLeastUs : 0)) return "";
  return column == HeatColumn::time ? us_text(figure) : count_text(figure);
}

Heat& Heat::operator+=(const CodeCounts& counts) {
  us += counts.us;
  instructions += counts.issued;
  lanes += counts.lanes;
  wavefronts += counts.wavefronts;
  conflicts += counts.wavefronts - counts.ideal;
  sectors += counts.sectors;
  return *this;
}

double CodeView::share_of_line(size_t at, HeatColumn column) const {
  const double most = hottest_line[size_t(column)];
  return most > 0 && at < lines.size() ? lines[at].of(column) / most : 0;
}

double CodeView::share_of_instruction(size_t at, HeatColumn column) const {
  const double most = hottest_instruction[size_t(column)];
  return most > 0 && at < instructions.size() ? instructions[at].of(column) / most : 0;
}

std::vector<int64_t> CodeView::hot_lines(HeatColumn column) const { return hot(lines, column, 1); }
std::vector<int64_t> CodeView::hot_instructions(HeatColumn column) const { return hot(instructions, column, 0); }

CodeView code_view(const Listing& listing, const Observation* seen, const SourceLines& source, size_t source_lines,
                   const Observation* profiled) {
  CodeView view;
  view.lines.resize(source_lines);
  view.instructions_of.resize(source_lines);
  view.instructions.resize(listing.lines.size());
  view.lines_of.resize(listing.lines.size());
  if (seen != nullptr && seen->watch) add_races(view.lines, *seen->watch, source);
  for (size_t i = 0; i < listing.lines.size(); ++i) {
    const CodeLine& line = listing.lines[i];
    std::vector<int64_t>& its = view.lines_of[i];
    for (const CodePlace& place : line.places) {
      const int64_t at = source.text_line(listing.files[static_cast<size_t>(place.file)], place.line);
      const bool inside = at >= 1 && static_cast<size_t>(at) <= source_lines;
      if (inside && std::ranges::find(its, at) == its.end()) its.push_back(at);
    }
    for (const int64_t number : its) view.instructions_of[static_cast<size_t>(number) - 1].push_back(int64_t(i));
    if (line.counts) view.instructions[i] += *line.counts;
    if (its.empty()) continue;
    Heat& own = view.lines[static_cast<size_t>(its.front()) - 1];
    if (line.counts) own += *line.counts;
    view.instructions[i].races = own.races;
  }
  if (profiled != nullptr) add_samples(view.lines, profiled->findings, source);
  view.hottest_line = hottest(view.lines);
  view.hottest_instruction = hottest(view.instructions);
  return view;
}

std::string control_text(const CodeControl& control) {
  std::string waits;
  for (int at = 0; at < 6; ++at) waits += (control.wait_mask >> at & 1) != 0 ? static_cast<char>('0' + at) : '-';
  const auto barrier = [](int number) { return number < 6 ? std::to_string(number) : std::string("-"); };
  return fmt::format("{}:R{}:W{}:{}:S{:02}", waits, barrier(control.read_barrier), barrier(control.write_barrier),
                     control.yields ? 'Y' : '-', control.stall);
}

std::string control_words(const CodeControl& control) {
  std::string words;
  const auto say = [&](const std::string& sentence) { words += (words.empty() ? "" : " ") + sentence; };
  if (control.wait_mask != 0) say("Waits for scoreboard " + scoreboards(control.wait_mask) + " first.");
  say(fmt::format("The warp's next instruction comes {} clock{} later at the earliest.", control.stall,
                  control.stall == 1 ? "" : "s"));
  if (control.yields) say("The scheduler is asked to prefer another warp then.");
  if (control.write_barrier < 6) say(fmt::format("Its result releases scoreboard {}.", control.write_barrier));
  if (control.read_barrier < 6)
    say(fmt::format("Once its sources are read, it releases scoreboard {}.", control.read_barrier));
  if (control.reuse != 0) {
    std::vector<char> slots;
    for (int at = 0; at < 4; ++at)
      if ((control.reuse >> at & 1) != 0) slots.push_back(static_cast<char>('a' + at));
    say("Keeps source " + joined(slots, [](char slot) { return std::string(1, slot); }) +
        " for the next instruction (reuse).");
  }
  return words;
}

std::string places_text(const Listing& listing, const CodeLine& line) {
  return joined(
      line.places,
      [&](const CodePlace& place) {
        const std::string& file = listing.files[static_cast<size_t>(place.file)];
        return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), place.line);
      },
      " < ");
}

}  // namespace attnscope::charts
