#include "cli/best_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/sweep_place.h"
#include "core/escape.h"
#include "report/bench_report.h"
#include "sweep/twin.h"

namespace attnscope::cli {
namespace {

Failure none_correct(const sweep::Plan& plan, const sweep::Board& board) {
  const std::string what = plan.kernel.id + " at " + report::problem_text(plan.held.problem) + ": ";
  if (board.rejected.empty()) return {Stage::input, what + "no config was tried", ""};
  const sweep::Rejected& last = board.rejected.back();
  return {Stage::input, what + std::string(label(last.why)) + (last.reason.empty() ? "" : ": " + last.reason),
          last.hint};
}

}  // namespace

sweep::Plan BestSearch::plan_of(const Kernel& kernel, const Problem& problem, const Config& held) const {
  const DeviceSpec& device = place_.device.device;
  sweep::Plan plan;
  plan.kernel = kernel;
  plan.budget = budget_;
  plan.held.problem = problem;
  plan.held.kernel = kernel.id;
  plan.held.kernel_hash = kernel.content_hash;
  plan.held.config = held;
  plan.held.device = device.id;
  if (device.emulated)
    plan.held.measure.sampled_share = sweep::emulated_share(problem);
  else
    plan.held.measure.max_time_ms = kTimedForMs;
  plan.strategy = search::StrategyKind::local;
  if (!device.emulated) {
    auto twin = sweep::emulated_twin(device, "", place_.emulated);
    const auto alike =
        std::ranges::find_if(place_.emulated, [&](const DeviceSpec& spec) { return spec.arch == device.arch; });
    if (twin || alike != place_.emulated.end()) {
      plan.strategy = search::StrategyKind::model_guided;
      plan.model = twin ? twin->id : alike->id;
    }
  }
  return plan;
}

std::vector<Config> BestSearch::seeds_for(const Kernel& kernel, const Problem& problem) const {
  struct Kept {
    const report::TunedEntry* entry;
    int unlike;  // the device: 0: this one, 1: of its architecture, 2: another
  };
  const DeviceSpec& device = place_.device.device;
  std::vector<Kept> entries;
  for (const report::TunedTable& table : tables_)
    for (const report::TunedEntry& entry : table.entries)
      if (entry.kernel == kernel.id)
        entries.push_back({&entry, table.device == device.name ? 0 : table.arch == device.arch ? 1 : 2});
  std::ranges::stable_sort(entries, {}, [&](const Kept& kept) {
    return std::pair{kept.unlike, report::difference(kept.entry->problem, problem)};
  });
  std::vector<Config> seeds;
  for (const auto& [entry, unlike] : entries) {
    auto config = catalog::complete_config(kernel, entry->config.knobs, kernel.options);
    if (config && seeds.size() < kMostSeeds && std::ranges::count(seeds, *config) == 0) seeds.push_back(*config);
  }
  return seeds;
}

Result<FoundBest> BestSearch::search(const Kernel& kernel, const Problem& problem) {
  const DeviceSpec& device = place_.device.device;
  if (auto runs = catalog::check_runs(kernel, device); !runs) return fail(runs.error());
  auto held = catalog::complete_config(kernel, {}, kernel.options);
  if (!held) return fail(held.error());
  sweep::Plan plan = plan_of(kernel, problem, *held);
  search::Candidates candidates;
  if (kernel.knobs.empty()) {
    candidates = search::candidates_of(std::vector{*held}, kernel, problem, device);
  } else {
    auto space = search::whole_space(kernel, *held, {});
    if (!space) return fail(space.error());
    plan.space = std::move(*space);
    candidates = search::candidates_of(plan.space, kernel, problem, device);
  }
  sweep::Search::Settings settings;
  settings.brief = true;
  settings.ranked = kRanked;
  settings.seeds = seeds_for(kernel, problem);
  return run(std::move(plan), std::move(candidates), std::move(settings));
}

Result<FoundBest> BestSearch::search(const Kernel& kernel, const Problem& problem,
                                     const std::vector<KnobValues>& configs) {
  std::vector<Config> complete;
  for (const KnobValues& knobs : configs) {
    auto config = catalog::complete_config(kernel, knobs, kernel.options);
    if (!config) return fail(config.error());
    complete.push_back(std::move(*config));
  }
  auto candidates = search::candidates_of(complete, kernel, problem, place_.device.device);
  sweep::Plan plan = plan_of(kernel, problem, complete.front());
  plan.strategy = search::StrategyKind::exhaustive;
  plan.budget = 0;
  return run(std::move(plan), std::move(candidates), {});
}

Result<FoundBest> BestSearch::run(sweep::Plan plan, search::Candidates candidates, sweep::Search::Settings settings) {
  SweepLine line(place_, plan, candidates.configs, plan.kernel.id + ": ");
  settings.watch = sweep::Watching::fastest;
  line.follow(settings);
  sweep::Search search(std::move(plan), std::move(candidates), place_, std::move(settings));
  auto done = search.run();
  line.clear();
  for (const std::string& note : search.notes()) print_note("attnscope best: " + note);
  if (!done) return fail(done.error());
  const sweep::Board board = search.board();
  const size_t tried = search.counts().tried;
  if (board.rows.empty())
    return FoundBest{{}, tried, none_correct(search.plan(), board), status_of(board, search.scan())};
  const charts::ScanRow* first = &board.rows.front();
  for (const charts::ScanRow& row : board.rows)  // of two with equal times, the watched one
    if (row.us == first->us && board.accepted.timed(row.point)->watch && !board.accepted.timed(first->point)->watch)
      first = &row;
  return FoundBest{*board.accepted.timed(first->point), tried, {}};
}

}  // namespace attnscope::cli
