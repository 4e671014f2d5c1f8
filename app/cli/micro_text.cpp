#include "cli/micro_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "charts/sheet.h"
#include "cli/sweep_text.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/with_commas.h"

namespace attnscope::cli {
namespace {

// A single sample has no range.
std::string range_text(const FragmentCycles& cycles) {
  return cycles.low < cycles.high ? fmt::format(" ({:.1f} to {:.1f})", cycles.low, cycles.high) : "";
}

std::string micro_row(const MicroBoard& board, size_t at) {
  const sweep::MicroRow& row = board.rows[at];
  const std::optional<Counters>& counted = board.runs[at].counters;
  return one_line(fmt::format("{:>4} {:>11.1f} {}{} {:>9.2f}  {:<24} {}", at + 1, row.cycles.median,
                              to_string(row.cycles.kind), range_text(row.cycles), 1000 * row.per_work(),
                              counted ? fmt::format("{} instructions {}", with_commas(all_instructions(*counted)),
                                                    to_string(counted->kind))
                                      : "not counted",
                              short_text(row.config, *board.kernel))) +
         "\n";
}

Json micro_row_json(const MicroBoard& board, size_t at) {
  const sweep::MicroRow& row = board.rows[at];
  const Observation& run = board.runs[at];
  Json json{{"config", short_text(row.config, *board.kernel)},
            {"knobs", row.config.knobs},
            {"cycles",
             {{"kind", word_of(row.cycles.kind)},
              {"ctas", row.cycles.ctas},
              {"low", row.cycles.low},
              {"median", row.cycles.median},
              {"high", row.cycles.high}}},
            {"work", row.work},
            {"cycles_per_1000", 1000 * row.per_work()},
            {"counted", nullptr},
            {"hash", run.hash}};
  if (run.counters)
    json["counted"] = {{"instructions", all_instructions(*run.counters)},
                       {"shared_wavefronts", run.counters->shared_wavefronts},
                       {"shared_bank_conflicts", run.counters->shared_bank_conflicts}};
  return json;
}

}  // namespace

std::string text_of(const std::vector<MicroBoard>& boards, const MicroAsked& asked, size_t most) {
  std::string out = one_line(fmt::format("Fragments of {} on {}: clocks of one execution, a CTA by itself",
                                         short_text(asked.problem), asked.device)) +
                    "\n";
  for (const MicroBoard& board : boards) {
    const size_t shown = most > 0 ? std::min(most, board.rows.size()) : board.rows.size();
    out +=
        "\n" +
        one_line(fmt::format("{}: {}; {} configs, {} of them known from earlier runs; clocks, and clocks per 1,000 {}",
                             board.kernel->id, board.kernel->title, board.rows.size() + board.rejected.size(),
                             board.known, board.kernel->fragment->unit)) +
        "\n";
    for (size_t at = 0; at < shown; ++at) out += micro_row(board, at);
    if (shown < board.rows.size()) out += fmt::format("     and {} more: --top 0\n", board.rows.size() - shown);
    if (!board.rejected.empty())
      out += fmt::format("{} rejected:\n", board.rejected.size()) + reasons_text(board.rejected);
  }
  return out;
}

std::string csv_of(const std::vector<MicroBoard>& boards, const MicroAsked& asked) {
  charts::Sheet sheet{{"fragment", "device", "knobs", "cycles", "cycles_low", "cycles_high", "cycles_kind", "work",
                       "unit", "instructions_counted", "shared_wavefronts_counted"},
                      {}};
  for (const MicroBoard& board : boards)
    for (size_t at = 0; at < board.rows.size(); ++at) {
      const sweep::MicroRow& row = board.rows[at];
      const std::optional<Counters>& counted = board.runs[at].counters;
      sheet.rows.push_back({board.kernel->id, asked.device, charts::knobs_text(row.config, ";"), row.cycles.median,
                            row.cycles.low, row.cycles.high, std::string(to_string(row.cycles.kind)), row.work,
                            board.kernel->fragment->unit,
                            counted ? charts::Cell(all_instructions(*counted)) : charts::Cell(),
                            counted ? charts::Cell(counted->shared_wavefronts) : charts::Cell()});
    }
  return charts::csv_of(sheet);
}

Json to_json(const std::vector<MicroBoard>& boards, const MicroAsked& asked) {
  Json json{{"problem", attnscope::to_json(asked.problem)}, {"device", asked.device}, {"fragments", Json::array()}};
  for (const MicroBoard& board : boards) {
    Json one{{"fragment", board.kernel->id}, {"title", board.kernel->title}, {"unit", board.kernel->fragment->unit},
             {"stands_for", Json::array()},  {"known", board.known},         {"rows", Json::array()},
             {"rejected", Json::array()}};
    for (const auto& stands : board.kernel->fragment->stands) one["stands_for"].push_back(stands.kernel);
    for (size_t at = 0; at < board.rows.size(); ++at) one["rows"].push_back(micro_row_json(board, at));
    for (const sweep::Rejected& rejected : board.rejected) one["rejected"].push_back(to_json(rejected));
    json["fragments"].push_back(std::move(one));
  }
  return json;
}

}  // namespace attnscope::cli
