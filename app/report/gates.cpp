#include "report/gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/bars.h"

namespace attnscope::report {
namespace {

// In how many rows an entry is in each state.
struct Seen {
  size_t timed = 0, wrong = 0, unable = 0;
  std::string reason;  // of the first row that was not timed
};

Seen seen_of(const BenchReport& report, size_t entry) {
  Seen seen;
  for (const Row& row : report.rows) {
    const Cell& cell = row.cells[entry];
    size_t& count = cell.state == CellState::timed   ? seen.timed
                    : cell.state == CellState::wrong ? seen.wrong
                                                     : seen.unable;
    ++count;
    if (cell.state != CellState::timed && seen.reason.empty())
      seen.reason = problem_text(row.problem) + ": " + cell.reason;
  }
  return seen;
}

std::string shapes_text(size_t count) { return fmt::format("{} {}", count, count == 1 ? "shape" : "shapes"); }

Gate compiles(const Seen& seen) {
  const size_t ran = seen.timed + seen.wrong;
  const std::string left_out =
      seen.unable > 0 ? fmt::format("; not on {}: {}", shapes_text(seen.unable), seen.reason) : "";
  return {GateKind::compiles, ran > 0, fmt::format("runs on {}{}", shapes_text(ran), left_out)};
}

Gate correct(const BenchReport& report, const RbkConfig& config, size_t entry, const Seen& seen) {
  if (seen.wrong > 0)
    return {GateKind::correct, false, fmt::format("wrong on {}: {}", shapes_text(seen.wrong), seen.reason)};
  if (seen.timed == 0) return {GateKind::correct, std::nullopt, "it ran on no shape"};
  size_t unchecked = 0, outside = 0, unknown = 0;
  for (const Row& row : report.rows) {
    const Cell& cell = row.cells[entry];
    if (cell.state != CellState::timed) continue;
    unchecked += cell.verdict != VerdictState::correct;
    if (cell.verdict != VerdictState::correct || !config.tolerances) continue;
    const auto inside = within(cell, *config.tolerances);
    outside += inside == false;
    unknown += !inside;
  }
  if (unchecked > 0) return {GateKind::correct, std::nullopt, "unchecked on " + shapes_text(unchecked)};
  if (outside > 0)
    return {GateKind::correct, false,
            fmt::format("correct, but on {} not within atol {} and rtol {}", shapes_text(outside),
                        config.tolerances->atol, config.tolerances->rtol)};
  if (unknown > 0)
    return {GateKind::correct, std::nullopt,
            fmt::format("correct, but atol {} and rtol {} are tighter than what was checked on {}",
                        config.tolerances->atol, config.tolerances->rtol, shapes_text(unknown))};
  return {GateKind::correct, true, "on " + shapes_text(seen.timed)};
}

// Whether a ratio is told apart from 1: by its interval, or by the bar of two modelled times. Empty if too few passes
// gave no interval.
std::optional<bool> told_apart(const BenchReport& report, const Cell& cell, const Ratio& ratio) {
  if (cell.kind == FigureKind::modelled)
    return model::paired(cell.p50, cell.p50 * ratio.ratio, report.arch).told_apart();
  if (!ratio.interval) return std::nullopt;
  return !ratio.tie();
}

// The two gates on the ratios to the baseline.
std::vector<Gate> against(const BenchReport& report, const RbkConfig& config, size_t entry, size_t baseline) {
  int64_t compared = 0, slower = 0, gained = 0, unknown = 0;
  std::string worst;
  double lowest = 1;
  for (const Row& row : report.rows) {
    const Ratio* ratio = ratio_to(row.cells[entry], baseline);
    if (ratio == nullptr) continue;
    ++compared;
    const auto apart = told_apart(report, row.cells[entry], *ratio);
    unknown += !apart;
    gained += apart == true && ratio->ratio >= config.gain.speedup;
    if (apart != true || ratio->ratio >= 1) continue;
    ++slower;
    if (ratio->ratio < lowest) {
      lowest = ratio->ratio;
      worst = problem_text(row.problem) + ", " + ratio_text(*ratio, row.cells[entry].kind);
    }
  }
  const std::string& label = report.entries[baseline].label;
  if (compared == 0) {
    const std::string why = "no shape has a time of both it and " + label;
    return {{GateKind::not_slower, std::nullopt, why}, {GateKind::gain, std::nullopt, why}};
  }
  const auto many = static_cast<size_t>(compared);
  const std::string why_unknown =
      fmt::format("too few passes to tell it from {} on {}", label, shapes_text(static_cast<size_t>(unknown)));
  Gate not_slower{GateKind::not_slower, true, fmt::format("than {} on {}", label, shapes_text(many))};
  if (slower > 0)
    not_slower = {
        GateKind::not_slower, false,
        fmt::format("slower than {} on {}, most at {}", label, shapes_text(static_cast<size_t>(slower)), worst)};
  else if (unknown > 0)
    not_slower = {GateKind::not_slower, std::nullopt, why_unknown};
  Gate gain{GateKind::gain, gained >= config.gain.shapes,
            fmt::format("at least {:g} times as fast as {} on {} of {}, {} wanted", config.gain.speedup, label, gained,
                        compared, config.gain.shapes)};
  if (gained < config.gain.shapes && gained + unknown >= config.gain.shapes)
    gain = {GateKind::gain, std::nullopt, why_unknown};
  return {not_slower, gain};
}

}  // namespace

bool Merge::passes() const {
  return std::ranges::all_of(gates, [](const Gate& gate) { return gate.passed == true; });
}

std::optional<bool> within(const Cell& cell, const Tolerances& tolerances) {
  if (!cell.error) return std::nullopt;
  const CellError& error = *cell.error;
  if (error.max_abs <= tolerances.atol) return true;
  const bool narrower = error.atol <= tolerances.atol && error.rtol <= tolerances.rtol;
  const bool wider = error.atol >= tolerances.atol && error.rtol >= tolerances.rtol;
  if (narrower && error.outside_share == 0) return true;
  if (wider && error.outside_share > 0) return false;
  return std::nullopt;
}

std::vector<Merge> gates_of(const BenchReport& report, const RbkConfig& config, const std::vector<bool>& documented) {
  const auto baseline = baseline_of(report);
  std::vector<Merge> all;
  for (size_t entry = 0; entry < report.entries.size(); ++entry) {
    if (report.entries[entry].peer) continue;
    const Seen seen = seen_of(report, entry);
    Merge merge{entry, {compiles(seen), correct(report, config, entry, seen)}};
    if (baseline && *baseline != entry)
      for (Gate& gate : against(report, config, entry, *baseline)) merge.gates.push_back(std::move(gate));
    const bool told = entry < documented.size() && documented[entry];
    merge.gates.push_back(
        {GateKind::documented, told, told ? "its manifest tells its story" : "its manifest has no \"story\""});
    all.push_back(std::move(merge));
  }
  return all;
}

}  // namespace attnscope::report
