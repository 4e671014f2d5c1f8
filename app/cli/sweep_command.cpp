#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/number_checks.h"
#include "cli/one_run.h"
#include "cli/sweep_place.h"
#include "cli/sweep_t4.h"
#include "cli/sweep_text.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/json_file.h"
#include "platform/output_file.h"

namespace attnscope::cli {
namespace {

using search::StrategyKind;

constexpr uint64_t kMaxSpaceFile = 1 << 20;

struct SweepOptions {
  OneRun run;  // without workers
  PoolOptions pool;
  std::string space;     // file
  std::string strategy;  // a word; empty: exhaustive
  std::string model;     // device
  std::string t4;        // file to write
  std::string cache;     // file to write
  std::string replay;    // T4 or cache file on which the strategies are scored
  size_t repeats = 100;  // of each strategy
  size_t cores = 16;     // on which its model ranked
  size_t budget = 0;
  uint64_t seed = 0;
  std::string watch;      // empty: the leading configs
  bool no_watch = false;  // watches nothing
  bool fresh = false, all = false, json = false;
};

Result<SweepPlace> place_from(const SweepOptions& options, const Draft& draft) {
  protocol::Deadlines deadlines;
  if (const int ms = options.run.deadline_ms; ms > 0) deadlines = {ms, ms, ms};
  auto pool = Pool::open(options.run.experiment.kernel_dirs, options.pool, deadlines, options.run.experiment.device,
                         wish_of(options.run.experiment, draft));
  if (!pool) return fail(pool.error());
  return SweepPlace::of(std::move(*pool));
}

Result<search::Space> space_of(const SweepOptions& options, const Kernel& kernel, const Config& held) {
  if (options.space.empty()) {
    std::vector<std::string> fixed;
    for (const std::string& setting : options.run.experiment.settings)
      if (auto parsed = catalog::parse_setting(kernel, setting)) fixed.push_back(parsed->first);
    return search::whole_space(kernel, held, fixed);
  }
  auto json = platform::read_json(options.space, kMaxSpaceFile, Stage::input);
  if (!json) return fail(json.error());
  return search::space_from_json(*json, kernel, held, options.space);
}

// The failure for a space from which every config is excluded.
Failure nothing_left(const search::Candidates& candidates, const std::string& kernel) {
  const std::string& hint = candidates.excluded.front().hint;
  return {Stage::input,
          fmt::format("none of the {} configs of {} may be tried; {}", candidates.excluded.size(), kernel,
                      sweep::most_common(candidates.excluded)),
          hint.empty() ? "Give the space other values, or change a fixed knob with --set." : hint};
}

bool is_recorded(const SweepOptions& options) { return !options.t4.empty() || !options.cache.empty(); }

// The files for other tuners that were asked for: all that can be written are.
Result<void> record(const SweepOptions& options, const sweep::Search& search, const DeviceSpec& device) {
  Result<void> written;
  if (!options.t4.empty()) written = platform::write_output(options.t4, json_text(t4_of(search), 1) + "\n");
  if (options.cache.empty()) return written;
  auto cached = platform::write_output(options.cache, cache_of(search, device));
  return written ? cached : written;
}

int run_and_show(const SweepOptions& options, sweep::Plan plan, search::Candidates candidates, SweepPlace place) {
  sweep::Search::Settings settings;
  settings.watch = options.no_watch        ? sweep::Watching::nothing
                   : options.watch.empty() ? sweep::Watching::leaders
                                           : sweep::Watching::everything;
  settings.fresh = options.fresh;
  settings.rank_always = is_recorded(options) && !plan.model.empty();
  place.rank_beside(plan.kernel_dirs);
  SweepLine line(place, plan, candidates.configs, "");
  line.follow(settings);
  sweep::Search search(std::move(plan), std::move(candidates), place, std::move(settings));
  auto done = search.run();
  line.clear();
  for (const std::string& note : search.notes()) print_note("attnscope sweep: " + note);
  if (!done) return report(done.error());
  const sweep::Board board = search.board();
  print_result(options.json ? json_text(to_json(board, search.plan(), search.counts()), 2)
                            : text_of(board, search.plan(), search.counts(), options.all));
  if (auto written = record(options, search, place.device.device); !written) return report(written.error());
  return status_of(board, search.scan());
}

int sweep(const SweepOptions& options) {
  if (!options.replay.empty()) return replay_t4(options.replay, options.repeats, options.cores, options.json);
  if (!options.t4.empty() && options.t4 == options.cache)
    return report(
        {Stage::input, "--t4 and --kernel-tuner-cache name the same file, " + options.t4, "Give each its own."});
  for (const std::string& file : {options.t4, options.cache})
    if (!file.empty())
      if (auto possible = platform::check_output(file); !possible) return report(possible.error());
  sweep::Plan plan;
  plan.budget = options.budget;
  plan.seed = options.seed;
  plan.kernel_dirs = options.run.experiment.kernel_dirs;
  if (!options.strategy.empty()) {
    auto kind = parse_word<StrategyKind>(options.strategy);
    if (!kind) return report({Stage::input, "--strategy: " + kind.error().message, kind.error().hint});
    plan.strategy = *kind;
  }
  if (plan.strategy == StrategyKind::model_guided || is_recorded(options)) plan.model = options.model;
  auto named = draft_of(options.run.experiment);
  if (!named) return report(named.error());
  plan.kernel = named->kernel;
  auto held = catalog::complete_config(plan.kernel, named->draft.config.knobs, named->draft.config.options);
  if (!held) return report(held.error());
  if (auto valid = validate(named->draft.problem, "problem"); !valid) return report(valid.error());
  auto space = space_of(options, plan.kernel, *held);
  if (!space) return report(space.error());
  plan.space = std::move(*space);
  auto place = place_from(options, named->draft);
  if (!place) return report(place.error());
  const DeviceSpec& device = place->device.device;
  if (auto runs = catalog::check_runs(plan.kernel, device); !runs) return report(runs.error());
  static_cast<Draft&>(plan.held) = named->draft;
  plan.held.config = *held;
  plan.held.device = device.id;
  plan.held.kernel_hash = plan.kernel.content_hash;
  auto candidates = search::candidates_of(plan.space, plan.kernel, plan.held.problem, device);
  if (candidates.configs.empty()) return report(nothing_left(candidates, plan.kernel.id));
  return run_and_show(options, std::move(plan), std::move(candidates), std::move(*place));
}

}  // namespace

void add_sweep(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("sweep", "Search a kernel's configs for the fastest correct one");
  auto options = std::make_shared<SweepOptions>();
  add_experiment_options(*command, options->run.experiment);
  add_pool_options(*command, options->pool);
  add_deadline_option(*command, options->run);
  command
      ->add_option("--space", options->space,
                   "Knobs and the values to try (docs/sweeping.md); else every value of the knobs without --set")
      ->type_name("FILE.json");
  command
      ->add_option(
          "--strategy", options->strategy,
          "exhaustive (the default), random, evolutionary, local, learning: by a forest of the results, halving: "
          "few samples first, or model-guided: ranked by the emulated twin")
      ->type_name("WORD");
  command
      ->add_option(
          "--model", options->model,
          "With model-guided: rank on this emulated device. With --t4 or --kernel-tuner-cache: its modelled times too")
      ->type_name("DEVICE");
  command->add_option("--budget", options->budget, "Try at most this many configs")
      ->type_name("N")
      ->check(above_zero());
  command->add_option("--seed", options->seed, "The seed of what is random; the same seed gives the same sweep")
      ->type_name("N")
      ->check(zero_or_more())
      ->capture_default_str();
  auto* watch = command->add_flag("--watch{sample}", options->watch,
                                  "Look for races and what is right by luck in every config, not only in the fastest");
  command->add_flag("--no-watch", options->no_watch, "Do not look for them; the output says what was not checked")
      ->excludes(watch);
  command->add_option("--t4", options->t4, "Also write every config in T4, the open format of autotuning results")
      ->type_name("FILE.json");
  command
      ->add_option("--kernel-tuner-cache", options->cache,
                   "Also write every config as a cache file, which Kernel Tuner and its dashboard read")
      ->type_name("FILE.json");
  auto* replay =
      command
          ->add_option("--replay", options->replay,
                       "Run nothing: score the strategies on a space that such a file of either kind has recorded")
          ->type_name("FILE.json");
  command->add_option("--repeats", options->repeats, "With --replay: how often each strategy runs")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(2, 1'000'000))
      ->needs(replay);
  command->add_option("--cores", options->cores, "With --replay: on how many cores a model ranks while the device runs")
      ->type_name("N")
      ->capture_default_str()
      ->check(above_zero())
      ->needs(replay);
  command->add_flag("--fresh", options->fresh, "Run also what earlier runs have answered");
  command->add_flag("--all", options->all, "List every config, with the reason of each rejected one");
  command->add_flag("--json", options->json, "As JSON (docs/sweeping.md)");
  command->callback([options, &chosen] { chosen = [options] { return sweep(*options); }; });
}

}  // namespace attnscope::cli
