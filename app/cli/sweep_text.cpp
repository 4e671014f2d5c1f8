#include "cli/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "charts/format.h"
#include "cli/results_text.h"
#include "core/command_words.h"
#include "core/escape.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

constexpr size_t kShortBoard = 10;    // rows
constexpr size_t kShortReasons = 12;  // lines

std::string sweep_row(const sweep::Board& board, const charts::ScanRow& row, size_t rank) {
  const Observation& run = *board.accepted.timed(row.point);
  std::string text = fmt::format("{:>4}{} {:>12} us {}  {:<14} {}", rank, row.tie ? "=" : " ",
                                 charts::terminal_us(*row.us), to_string(row.kind), label(row.verdict), row.text);
  if (!row.same_as.empty())
    text += "  (equal machine code: timed once)";
  else if (!run.watch)
    text += "  (not watched)";
  return one_line(text) + "\n";
}

}  // namespace

std::string reasons_text(const std::vector<sweep::Rejected>& rejected) {
  std::map<std::string, size_t> counted;
  for (const sweep::Rejected& one : rejected)
    ++counted[std::string(label(one.why)) + (one.common.empty() ? "" : ": " + one.common)];
  std::vector<std::pair<std::string, size_t>> lines(counted.begin(), counted.end());
  std::ranges::stable_sort(lines, std::greater(), &std::pair<std::string, size_t>::second);
  std::string out;
  for (size_t at = 0; at < std::min(lines.size(), kShortReasons); ++at)
    out += one_line(fmt::format("{:>6}  {}", lines[at].second, lines[at].first)) + "\n";
  if (lines.size() > kShortReasons)
    out += fmt::format("        and {} more reasons: --all\n", lines.size() - kShortReasons);
  return out;
}

namespace {

std::vector<std::string> winners_command(const sweep::Board& board, const sweep::Plan& plan) {
  if (board.rows.empty()) return {};
  Draft draft = plan.held;
  draft.config = board.accepted.points.at(board.rows.front().point).config;
  std::vector<std::string> words = run_words(draft, plan.kernel);
  for (const std::string& dir : plan.kernel_dirs) words.insert(words.end(), {"--kernels", dir});
  return words;
}

Json sweep_row_json(const sweep::Board& board, const charts::ScanRow& row) {
  const Observation& run = *board.accepted.timed(row.point);
  const Config& config = board.accepted.points[row.point].config;
  Json json{{"config", row.text},
            {"knobs", config.knobs},
            {"options", options_json(config)},
            {"us", *row.us},
            {"interval", {run.timing->interval_low, run.timing->interval_high}},
            {"kind", word_of(row.kind)},
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

Json to_json(const sweep::Rejected& rejected) {
  return {{"config", rejected.config}, {"why", rejected.why}, {"reason", rejected.reason}, {"hint", rejected.hint}};
}

std::string text_of(const sweep::Board& board, const sweep::Plan& plan, const sweep::Counts& counts, bool all) {
  const auto once = std::ranges::count_if(board.rows, [](const auto& row) { return !row.same_as.empty(); });
  std::string out =
      one_line(fmt::format("{}  {} on {}", plan.kernel.id, short_text(plan.held.problem), plan.held.device)) + "\n";
  out += fmt::format("{}: {} of {} configs were tried, {} of them known from earlier runs, {} correct",
                     to_string(plan.strategy), counts.tried, plan.space.size(), counts.known, board.rows.size());
  out += once > 0 ? fmt::format(" ({} with the machine code of another, timed once)\n\n", once) : "\n\n";
  for (size_t at = 0; at < (all ? board.rows.size() : std::min(board.rows.size(), kShortBoard)); ++at)
    out += sweep_row(board, board.rows[at], board.rows[at].tie ? 1 : at + 1);
  if (board.rows.empty()) out += "No config is correct.\n";
  if (!all && board.rows.size() > kShortBoard)
    out += fmt::format("     and {} more: --all\n", board.rows.size() - kShortBoard);
  if (std::ranges::any_of(board.rows, &charts::ScanRow::tie)) out += "   = cannot be told apart from the first\n";
  if (!board.rejected.empty()) out += fmt::format("\n{} rejected:\n", board.rejected.size());
  if (all)
    for (const sweep::Rejected& one : board.rejected)
      out += one_line(fmt::format("  {}  {}: {}", one.config, label(one.why), one.reason)) + "\n";
  else
    out += reasons_text(board.rejected);
  if (const auto command = winners_command(board, plan); !command.empty())
    out += "\nThe first again:\n  " + one_line(shell_text(command)) + "\n";
  return out;
}

Json to_json(const sweep::Board& board, const sweep::Plan& plan, const sweep::Counts& counts) {
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
  for (const charts::ScanRow& row : board.rows) json["correct"].push_back(sweep_row_json(board, row));
  for (const sweep::Rejected& one : board.rejected) json["rejected"].push_back(to_json(one));
  if (const auto command = winners_command(board, plan); !command.empty()) json["command"] = shell_text(command);
  return json;
}

}  // namespace attnscope::cli
