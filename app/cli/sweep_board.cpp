#include "cli/sweep_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/command_words.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "core/options.h"

namespace attnscope::cli {
namespace {

constexpr size_t kShortBoard = 10;    // rows
constexpr size_t kShortReasons = 12;  // lines

// The scan with only these points. A point that was timed in another's place has that one's time by itself.
Scan only(const Scan& scan, const std::vector<size_t>& points) {
  Scan part{scan.id, scan.held, {}, scan.failure};
  for (const size_t at : points) {
    ScanPoint point = scan.points.at(at);
    if (point.same_as) {
      const auto twin = std::ranges::find(points, *point.same_as);
      point.same_as = static_cast<size_t>(twin - points.begin());
    }
    part.points.push_back(std::move(point));
  }
  return part;
}

std::vector<size_t> accepted_points(const Scan& scan) {
  std::vector<size_t> points;
  for (size_t at = 0; at < scan.points.size(); ++at)
    if (const Observation* run = scan.timed(at); !scan.points[at].refused && run != nullptr && is_accepted(*run))
      points.push_back(at);
  return points;
}

Rejected rejected_of(const Scan& scan, const charts::ScanRow& row) {
  Rejected one{row.text, row.verdict, row.reason, row.hint, ""};
  if (const Observation* run = scan.timed(row.point); one.reason.empty() && run != nullptr && run->verdict)
    one.reason = run->verdict->reason;
  // The reasons of faulty outputs name elements and threads: they are counted by their verdict.
  one.common = row.state == charts::ScanState::faulty ? "" : one.reason;
  return one;
}

std::string row_text(const SweepBoard& board, const charts::ScanRow& row, size_t rank) {
  const Observation& run = *board.accepted.timed(row.point);
  std::string text = fmt::format("{:>4}{} {:>12.1f} us {}  {:<14} {}", rank, row.tie ? "=" : " ", *row.us,
                                 to_string(row.kind), row.verdict, row.text);
  if (!row.same_as.empty())
    text += "  (equal machine code: timed once)";
  else if (!run.watch)
    text += "  (not watched)";
  return one_line(text) + "\n";
}

// "  192  limit: asks 57,376 B …", the most frequent first.
std::string reasons_text(const std::vector<Rejected>& rejected) {
  std::map<std::string, size_t> counted;
  for (const Rejected& one : rejected) ++counted[one.why + (one.common.empty() ? "" : ": " + one.common)];
  std::vector<std::pair<std::string, size_t>> lines(counted.begin(), counted.end());
  std::ranges::stable_sort(lines, std::greater(), &std::pair<std::string, size_t>::second);
  std::string out;
  for (size_t at = 0; at < std::min(lines.size(), kShortReasons); ++at)
    out += one_line(fmt::format("{:>6}  {}", lines[at].second, lines[at].first)) + "\n";
  if (lines.size() > kShortReasons)
    out += fmt::format("        and {} more reasons: --all\n", lines.size() - kShortReasons);
  return out;
}

std::vector<std::string> winners_command(const SweepBoard& board, const SweepPlan& plan) {
  if (board.rows.empty()) return {};
  Draft draft = plan.held;
  draft.config = board.accepted.points.at(board.rows.front().point).config;
  std::vector<std::string> words = run_words(draft, plan.kernel);
  for (const std::string& dir : plan.kernel_dirs) words.insert(words.end(), {"--kernels", dir});
  return words;
}

Json json_of(const Rejected& one) {
  return {{"config", one.config}, {"why", one.why}, {"reason", one.reason}, {"hint", one.hint}};
}

Json options_json(const SweepPlan& plan, const Config& config) {
  Json options = Json::object();
  for (const std::string& name : option_names()) {
    const search::Axis axis{name, {}, true};
    options[name] = search::value_json(plan.kernel, axis, axis.value_in(config));
  }
  return options;
}

Json json_of(const SweepBoard& board, const SweepPlan& plan, const charts::ScanRow& row) {
  const Observation& run = *board.accepted.timed(row.point);
  const Config& config = board.accepted.points[row.point].config;
  Json json{{"config", row.text},
            {"knobs", config.knobs},
            {"options", options_json(plan, config)},
            {"us", *row.us},
            {"interval", {run.timing->interval_low, run.timing->interval_high}},
            {"kind", to_string(row.kind)},
            {"verdict", row.verdict},
            {"fastest", row.best},
            {"tie", row.tie},
            {"watched", run.watch.has_value()},
            {"same_code_as", nullptr},
            {"hash", run.hash}};
  if (!row.same_as.empty()) json["same_code_as"] = row.same_as;
  return json;
}

}  // namespace

bool is_accepted(const Observation& observation) {
  const auto headline = headline_of(observation);
  return !observation.failure && observation.timing && observation.verdict &&
         observation.verdict->state == VerdictState::correct && headline && !is_fault(*headline);
}

SweepBoard board_of(const Scan& scan, const std::vector<search::Excluded>& excluded, const Kernel& kernel) {
  SweepBoard board;
  for (const search::Excluded& one : excluded)
    board.rejected.push_back({short_text(one.config, kernel, scan.held.config.options), std::string(to_string(one.why)),
                              one.reason, one.hint, one.common});
  const std::vector<size_t> points = accepted_points(scan);
  for (const charts::ScanSeries& series : charts::scan_series(scan))
    for (const charts::ScanRow& row : series.rows)
      if (!std::ranges::binary_search(points, row.point)) board.rejected.push_back(rejected_of(scan, row));
  board.accepted = only(scan, points);
  for (charts::ScanSeries& series : charts::scan_series(board.accepted)) board.rows = std::move(series.rows);
  std::ranges::stable_sort(board.rows, {}, [](const charts::ScanRow& row) { return std::pair(*row.us, !row.best); });
  return board;
}

std::vector<size_t> leaders_of(const Scan& scan) {
  const std::vector<size_t> points = accepted_points(scan);
  std::vector<size_t> leaders;
  for (const charts::ScanSeries& series : charts::scan_series(only(scan, points)))
    for (const charts::ScanRow& row : series.rows) {
      const size_t point = scan.points[points[row.point]].same_as.value_or(points[row.point]);
      if ((row.best || row.tie) && std::ranges::count(leaders, point) == 0) leaders.push_back(point);
    }
  return leaders;
}

std::string text_of(const SweepBoard& board, const SweepPlan& plan, const SweepCounts& counts, bool all) {
  const auto once = std::ranges::count_if(board.rows, [](const auto& row) { return !row.same_as.empty(); });
  std::string out =
      one_line(fmt::format("{}  {} on {}", plan.kernel.id, short_text(plan.held.problem), plan.held.device)) + "\n";
  out += fmt::format("{}: {} of {} configs were tried, {} of them known from earlier runs, {} correct",
                     to_string(plan.strategy), counts.tried, plan.space.size(), counts.known, board.rows.size());
  out += once > 0 ? fmt::format(" ({} with the machine code of another, timed once)\n\n", once) : "\n\n";
  for (size_t at = 0; at < (all ? board.rows.size() : std::min(board.rows.size(), kShortBoard)); ++at)
    out += row_text(board, board.rows[at], board.rows[at].tie ? 1 : at + 1);
  if (board.rows.empty()) out += "No config is correct.\n";
  if (!all && board.rows.size() > kShortBoard)
    out += fmt::format("     and {} more: --all\n", board.rows.size() - kShortBoard);
  if (std::ranges::any_of(board.rows, &charts::ScanRow::tie)) out += "   = cannot be told apart from the first\n";
  if (!board.rejected.empty()) out += fmt::format("\n{} rejected:\n", board.rejected.size());
  if (all)
    for (const Rejected& one : board.rejected)
      out += one_line(fmt::format("  {}  {}: {}", one.config, one.why, one.reason)) + "\n";
  else
    out += reasons_text(board.rejected);
  if (const auto command = winners_command(board, plan); !command.empty())
    out += "\nThe first again:\n  " + one_line(shell_text(command)) + "\n";
  return out;
}

Json to_json(const SweepBoard& board, const SweepPlan& plan, const SweepCounts& counts) {
  Json json{{"experiment", attnscope::to_json(plan.held)},
            {"space", search::to_json(plan.space, plan.kernel)},
            {"strategy", word_of(plan.strategy)},
            {"seed", plan.seed},
            {"budget", nullptr},
            {"model", nullptr},
            {"configs", plan.space.size()},
            {"tried", counts.tried},
            {"known", counts.known},
            {"correct", Json::array()},
            {"rejected", Json::array()},
            {"command", nullptr}};
  if (plan.budget > 0) json["budget"] = plan.budget;
  if (!plan.model.empty()) json["model"] = plan.model;
  for (const charts::ScanRow& row : board.rows) json["correct"].push_back(json_of(board, plan, row));
  for (const Rejected& one : board.rejected) json["rejected"].push_back(json_of(one));
  if (const auto command = winners_command(board, plan); !command.empty()) json["command"] = shell_text(command);
  return json;
}

}  // namespace attnscope::cli
