#include "cli/leaderboard_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "charts/format.h"
#include "charts/sheet.h"
#include "cli/results_text.h"
#include "core/command_words.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

using charts::Leader;
using charts::Leaderboard;
using charts::Unranked;

// The command that repeats the run, or why there is none.
struct Again {
  std::string command, why_not;
};

Again again(const Experiment& experiment, const std::vector<Kernel>& kernels,
            const std::vector<std::string>& kernel_dirs) {
  const Kernel* kernel = find_kernel(kernels, experiment.kernel);
  if (kernel == nullptr) return {"", "kernel " + experiment.kernel + " is not here"};
  if (kernel->content_hash != experiment.kernel_hash)
    return {"", "kernel " + experiment.kernel + " was edited since that run"};
  if (experiment.measure.cache == CacheState::cold) return {"", "it was timed cold, and run has no option for that"};
  std::vector<std::string> words = run_words(experiment, *kernel);
  for (const std::string& dir : kernel_dirs) words.insert(words.end(), {"--kernels", dir});
  return {shell_text(words), ""};
}

std::string day_of(double finished_at) { return charts::date_of(finished_at).substr(0, 10); }

std::string standing_text(const Leader& leader) {
  if (leader.against_first.outcome != charts::Outcome::slower) return "";
  return fmt::format("{:.2f} x ({:.2f} to {:.2f})", leader.against_first.ratio, leader.ratio_low, leader.ratio_high);
}

std::string leader_row(const Leader& leader) {
  const Observation& run = *leader.of.run;
  return one_line(fmt::format(
      "{:>4}{} {:>10} us {:<22} {:<22} {:>9}  {:>3} regs {:>9}  {}  {}{}", leader.rank, leader.tie ? "=" : " ",
      charts::terminal_us(run.timing->p50),
      fmt::format("{} to {}", charts::terminal_us(run.timing->interval_low),
                  charts::terminal_us(run.timing->interval_high)),
      standing_text(leader), charts::error_text(run.verdict->rel_frobenius), run.variant ? run.variant->registers : 0,
      run.variant ? charts::kib_text(run.variant->static_shared_bytes + run.variant->dynamic_shared_bytes) : "",
      day_of(leader.of.finished_at), config_of(run), run.watch ? "" : "  (not watched)"));
}

// "    1 beats 3 by 1.30 x (1.21 to 1.40); cannot be told apart from 2", where 1 is the first row.
std::string pairs_text(const Leaderboard& board) {
  std::string out = "  who beats whom, rows counted from the top:\n";
  for (size_t row = 0; row + 1 < board.leaders.size(); ++row) {
    const std::vector<charts::Beaten> beaten = charts::beaten_by(board, row);
    const std::string wins = joined(beaten, [](const charts::Beaten& one) {
      return fmt::format("{} by {:.2f} x ({:.2f} to {:.2f})", one.row + 1, one.ratio, one.low, one.high);
    });
    std::vector<size_t> alike;
    for (size_t at = row + 1; at < board.leaders.size(); ++at)
      if (std::ranges::count(beaten, at, &charts::Beaten::row) == 0) alike.push_back(at + 1);
    const std::string ties = joined(alike, [](size_t at) { return std::to_string(at); });
    out +=
        fmt::format("    {}{}{}{}\n", row + 1, wins.empty() ? "" : " beats " + wins,
                    wins.empty() || ties.empty() ? "" : ";", ties.empty() ? "" : " cannot be told apart from " + ties);
  }
  return out;
}

Json beats_json(const Leaderboard& board, size_t row) {
  Json beats = Json::array();
  for (const charts::Beaten& one : charts::beaten_by(board, row))
    beats.push_back({{"leader", one.row},
                     {"hash", board.leaders[one.row].of.run->hash},
                     {"ratio", one.ratio},
                     {"ratio_interval", {one.low, one.high}}});
  return beats;
}

}  // namespace

std::string text_of(const Leaderboard& board, const std::vector<Kernel>& kernels,
                    const std::vector<std::string>& kernel_dirs, bool pairs) {
  const Observation& sample = board.sample();
  std::string out = one_line(fmt::format("{} on {}", short_text(sample.experiment.problem), ran_on(sample)));
  if (sample.timing)
    out +=
        fmt::format(", {}{}", to_string(sample.timing->kind), sample.timing->cache == CacheState::cold ? ", cold" : "");
  if (board.floor_us > 0) out += fmt::format("; nothing takes less than {} us", charts::terminal_us(board.floor_us));
  out += "\n";
  for (const Leader& leader : board.leaders) {
    out += leader_row(leader) + "\n";
    const Again row = again(leader.of.run->experiment, kernels, kernel_dirs);
    out += "      " + one_line(row.command.empty() ? row.why_not : row.command) + "\n";
  }
  if (board.leaders.empty()) out += "  no run is correct\n";
  if (pairs && board.leaders.size() > 1) out += pairs_text(board);
  std::map<std::string, size_t> counted;
  for (const Unranked& one : board.unranked) ++counted[one.why];
  for (const auto& [why, count] : counted)
    out += one_line(fmt::format("  not ranked: {} {}", count, label(why))) + "\n";
  for (const Unranked& one : board.unranked)
    if (one.impossible) out += one_line("  " + config_of(*one.of.run) + ": " + one.reason) + "\n";
  if (board.records.size() > 1) {
    out += "  records:\n";
    for (const charts::DatedRun& one : board.records)
      out += one_line(fmt::format("    {} {:>10} us  {}", day_of(one.finished_at),
                                  charts::terminal_us(one.run->timing->p50), config_of(*one.run))) +
             "\n";
  }
  return out;
}

Json to_json(const Leaderboard& board, const std::vector<Kernel>& kernels, const std::vector<std::string>& kernel_dirs,
             bool pairs) {
  const Observation& sample = board.sample();
  Json json{{"problem", attnscope::to_json(sample.experiment.problem)},
            {"device", ran_on(sample)},
            {"kind", nullptr},
            {"cache", nullptr},
            {"floor_us", nullptr},
            {"leaders", Json::array()},
            {"unranked", Json::array()},
            {"records", Json::array()}};
  if (sample.timing) {
    json["kind"] = word_of(sample.timing->kind);
    json["cache"] = word_of(sample.timing->cache);
  }
  if (board.floor_us > 0) json["floor_us"] = board.floor_us;
  for (const Leader& leader : board.leaders) {
    const Observation& run = *leader.of.run;
    const Again row = again(run.experiment, kernels, kernel_dirs);
    Json one{{"rank", leader.rank},
             {"tie", leader.tie},
             {"kernel", run.experiment.kernel},
             {"knobs", run.experiment.config.knobs},
             {"options", options_json(run.experiment.config)},
             {"us", run.timing->p50},
             {"interval", {run.timing->interval_low, run.timing->interval_high}},
             {"ratio", leader.against_first.ratio},
             {"ratio_interval", {leader.ratio_low, leader.ratio_high}},
             {"rel_error", run.verdict->rel_frobenius},
             {"registers", nullptr},
             {"shared_bytes", nullptr},
             {"watched", run.watch.has_value()},
             {"finished_at", leader.of.finished_at},
             {"hash", run.hash},
             {"command", nullptr},
             {"no_command", nullptr}};
    if (pairs) one["beats"] = beats_json(board, json["leaders"].size());
    if (run.variant) {
      one["registers"] = run.variant->registers;
      one["shared_bytes"] = run.variant->static_shared_bytes + run.variant->dynamic_shared_bytes;
    }
    if (row.command.empty())
      one["no_command"] = row.why_not;
    else
      one["command"] = row.command;
    json["leaders"].push_back(std::move(one));
  }
  for (const Unranked& one : board.unranked)
    json["unranked"].push_back({{"kernel", one.of.run->experiment.kernel},
                                {"knobs", one.of.run->experiment.config.knobs},
                                {"options", options_json(one.of.run->experiment.config)},
                                {"why", one.why},
                                {"reason", one.reason},
                                {"finished_at", one.of.finished_at},
                                {"hash", one.of.run->hash}});
  for (const charts::DatedRun& one : board.records)
    json["records"].push_back({{"us", one.run->timing->p50},
                               {"kernel", one.run->experiment.kernel},
                               {"knobs", one.run->experiment.config.knobs},
                               {"options", options_json(one.run->experiment.config)},
                               {"finished_at", one.finished_at},
                               {"hash", one.run->hash}});
  return json;
}

}  // namespace attnscope::cli
