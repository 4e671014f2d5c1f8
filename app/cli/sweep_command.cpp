#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "catalog/validate.h"
#include "charts/format.h"
#include "charts/standing.h"
#include "cli/bench_plan.h"
#include "cli/command.h"
#include "cli/device_wait.h"
#include "cli/emulated_twin.h"
#include "cli/exit_status.h"
#include "cli/one_run.h"
#include "cli/places.h"
#include "cli/status_line.h"
#include "cli/sweep_board.h"
#include "cli/sweep_run.h"
#include "cli/sweep_t4.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/json_file.h"
#include "platform/output_file.h"
#include "search/search.h"

namespace attnscope::cli {
namespace {

using search::StrategyKind;

constexpr uint64_t kMaxFile = 1 << 20;

struct SweepOptions {
  OneRun run;
  std::string space;     // file
  std::string strategy;  // a word; empty: exhaustive
  std::string model;     // device
  std::string t4;        // file to write
  std::string replay;    // T4 file to score the strategies on
  size_t repeats = 100;  // of each
  size_t budget = 0;
  uint64_t seed = 0;
  std::string watch;      // empty: what leads
  bool no_watch = false;  // nothing
  bool fresh = false, all = false, json = false;
};

// Where a sweep runs, and what it may try.
struct Place {
  std::unique_ptr<WaitingSession> session;
  WaitingSession::Found device;
  std::unique_ptr<store::Results> results;  // null: there is no place for it
  std::vector<DeviceSpec> emulated;         // the devices that are data
};

Result<Place> place_of(const SweepOptions& options, const Draft& draft) {
  const auto places = find_places();
  if (!places) return fail(places.error());
  std::string device = options.run.experiment.device;
  auto with = options_with_workers(options.run.experiment.kernel_dirs, options.run.workers, device);
  if (!with) return fail(with.error());
  if (const int ms = options.run.deadline_ms; ms > 0) with->deadlines = {ms, ms, ms};
  auto waiting = WaitingSession::start(std::move(*with));
  if (!waiting) return fail(waiting.error());
  auto found = (*waiting)->wait_for(device.empty() ? draft.device : device);
  if (!found) return fail(found.error());
  auto results = store::Results::open(places->user.data / "results.sqlite");
  if (!results) return fail(results.error());
  return Place{std::move(*waiting), std::move(*found), std::move(*results), emulated_devices(*places).devices};
}

Result<search::Space> space_of(const SweepOptions& options, const Kernel& kernel, const Config& held) {
  if (options.space.empty()) {
    std::vector<std::string> fixed;
    for (const std::string& setting : options.run.experiment.settings)
      if (auto parsed = catalog::parse_setting(kernel, setting)) fixed.push_back(parsed->first);
    return search::whole_space(kernel, held, fixed);
  }
  auto json = platform::read_json(options.space, kMaxFile, Stage::input);
  if (!json) return fail(json.error());
  return search::space_from_json(*json, kernel, held, options.space);
}

// A space of which nothing is left.
Failure nothing_left(const search::Candidates& candidates, const std::string& kernel) {
  std::map<std::string, size_t> counted;
  for (const search::Excluded& one : candidates.excluded) ++counted[one.common];
  const auto most = std::ranges::max_element(counted, {}, &std::pair<const std::string, size_t>::second);
  return {Stage::input,
          fmt::format("none of the {} configs of {} may be tried; {} of them: {}", candidates.excluded.size(), kernel,
                      most->second, most->first),
          candidates.excluded.front().hint};
}

class Sweep {
 public:
  Sweep(const SweepOptions& options, SweepPlan plan, search::Candidates candidates, Place place)
      : options_(options), plan_(std::move(plan)), candidates_(std::move(candidates)), place_(std::move(place)) {}

  int run() {
    auto strategy = choose();
    if (!strategy) return report(strategy.error());
    SweepRun run(
        place_.session->session(), place_.results.get(), plan_.held,
        settings(options_.watch.empty() ? session::Watch::never : session::Watch::always, place_.device, plan_.budget));
    if (auto tried = try_all(run, std::move(*strategy)); !tried) return report(tried.error());
    if (auto gated = gate(run); !gated) return report(gated.error());
    line_.show("");
    if (const auto trouble = place_.results->take_trouble())
      print_note(fmt::format("attnscope sweep: {}. {}", trouble->message, trouble->hint));
    if (run.not_kept())
      print_note(
          fmt::format("attnscope sweep: results are not kept: {}. {}", run.not_kept()->message, run.not_kept()->hint));
    const SweepBoard board = board_of(run.scan(), candidates_.excluded, plan_.kernel);
    if (!options_.t4.empty()) {
      const std::string text = json_text(t4_of(run.scan(), candidates_.excluded, plan_), 1) + "\n";
      if (auto written = platform::write_output(options_.t4, text); !written) return report(written.error());
    }
    const SweepCounts counts{run.scan().points.size(), run.known()};
    print_result(options_.json ? json_text(to_json(board, plan_, counts), 2)
                               : text_of(board, plan_, counts, options_.all));
    return status_of(board, run.scan());
  }

 private:
  SweepRun::Settings settings(session::Watch watch, const WaitingSession::Found& device, size_t budget) {
    SweepRun::Settings settings{watch, options_.fresh, device.versions, {}};
    settings.on_progress = [this, budget](const SweepProgress& now) {
      const size_t most = budget > 0 ? std::min(budget, candidates_.configs.size()) : now.asked;
      std::string text = fmt::format("{} of {}{}", now.ended, budget > 0 ? "at most " : "", most);
      if (now.left_seconds && now.asked > now.ended) text += ", " + left_text(*now.left_seconds);
      if (now.best != nullptr)
        text += fmt::format(", best {:.1f} us: {}", now.best->timing->p50,
                            short_text(now.best->experiment.config, plan_.kernel));
      line_.show(text, {now.ended, most});
    };
    return settings;
  }

  Result<std::unique_ptr<search::Strategy>> choose() {
    const search::Grid& grid = candidates_.grid;
    if (plan_.strategy == StrategyKind::model_guided) {
      if (!place_.device.device.emulated || !options_.model.empty()) {
        auto predicted = predictions();
        if (!predicted) return fail(predicted.error());
        return std::make_unique<search::ModelGuided>(grid, std::move(*predicted), search::ModelGuided::Settings{});
      }
      print_note("attnscope sweep: " + place_.device.device.id +
                 " is modelled itself, so every config is run: exhaustive");
      plan_.strategy = StrategyKind::exhaustive;
    }
    return search::strategy_without_model(plan_.strategy, grid, plan_.seed, held_point(), plan_.budget > 0);
  }

  // The held config, where the search may try it.
  std::vector<size_t> held_point() const {
    const auto found = std::ranges::find(candidates_.configs, plan_.held.config);
    if (found == candidates_.configs.end()) return {};
    return {static_cast<size_t>(found - candidates_.configs.begin())};
  }

  // The modelled time of every config on the emulated twin, us.
  Result<std::vector<std::optional<double>>> predictions() {
    auto model = emulated_twin(place_.device.device, options_.model, place_.emulated);
    if (!model) return fail(model.error());
    auto found = place_.session->wait_for(model->id);
    if (!found) return fail(found.error());
    plan_.model = model->id;
    Experiment held = plan_.held;
    held.device = model->id;
    held.measure.sampled_share = emulated_share(held.problem);
    SweepRun run(place_.session->session(), place_.results.get(), held, settings(session::Watch::never, *found, 0));
    if (auto done = run.run(candidates_.configs); !done) return fail(done.error());
    std::vector<std::optional<double>> predicted;
    for (size_t at = 0; at < candidates_.configs.size(); ++at) {
      const Observation* seen = run.scan().timed(at);
      const bool good = seen != nullptr && is_accepted(*seen);
      predicted.push_back(good ? std::optional(seen->timing->p50) : std::nullopt);
    }
    return predicted;
  }

  Result<void> try_all(SweepRun& run, std::unique_ptr<search::Strategy> strategy) {
    std::map<size_t, size_t> index;  // in the scan, by point
    const auto told_apart = [&](size_t a, size_t b) {
      const auto outcome = charts::standing_of(*run.scan().timed(index.at(a)), *run.scan().timed(index.at(b))).outcome;
      return outcome == charts::Outcome::faster || outcome == charts::Outcome::slower;
    };
    search::Search search(std::move(strategy), candidates_.grid.size(), plan_.budget, told_apart);
    for (auto points = search.next(); !points.empty(); points = search.next()) {
      std::vector<Config> configs;
      for (const size_t point : points) {
        index.try_emplace(point, index.size());
        configs.push_back(candidates_.configs[point]);
      }
      if (auto done = run.run(configs); !done) return done;
      for (const size_t point : points) {
        const Observation* seen = run.scan().timed(index.at(point));
        const bool good = seen != nullptr && is_accepted(*seen);
        search.tell({point, good ? std::optional(seen->timing->p50) : std::nullopt});
      }
    }
    return {};
  }

  // Watches what leads until everything that leads is sound: a racy config cannot win, nor tie with the winner.
  Result<void> gate(SweepRun& run) {
    const bool can =
        plan_.kernel.library.is_source() && std::ranges::any_of(place_.emulated, [&](const DeviceSpec& spec) {
          return spec.arch == place_.device.device.arch;
        });
    if (options_.no_watch || !can) return {};
    for (;;) {
      std::vector<size_t> unwatched;
      for (const size_t point : leaders_of(run.scan()))
        if (!run.scan().timed(point)->watch) unwatched.push_back(point);
      if (unwatched.empty()) return {};
      if (auto done = run.watch(unwatched); !done) return done;
    }
  }

  // A sweep looks for what runs, so a config that does not is no failure of it.
  static int status_of(const SweepBoard& board, const Scan& scan) {
    if (!board.rows.empty()) return kCorrectOrUnchecked;
    int least = kEnded;
    for (size_t at = 0; at < scan.points.size(); ++at) {
      const Observation* run = scan.timed(at);
      least = std::min<int>(least, run != nullptr ? cli::status_of(*run) : kRefused);
    }
    return std::max<int>(least, kWrong);
  }

  const SweepOptions& options_;
  SweepPlan plan_;
  search::Candidates candidates_;
  Place place_;
  StatusLine line_;
};

int sweep(const SweepOptions& options) {
  if (!options.replay.empty()) return replay_t4(options.replay, options.repeats, options.json);
  if (!options.t4.empty())
    if (auto possible = platform::check_output(options.t4); !possible) return report(possible.error());
  SweepPlan plan;
  plan.budget = options.budget;
  plan.seed = options.seed;
  plan.kernel_dirs = options.run.experiment.kernel_dirs;
  if (!options.strategy.empty()) {
    auto kind = parse_word<StrategyKind>(options.strategy);
    if (!kind) return report({Stage::input, "--strategy: " + kind.error().message, kind.error().hint});
    plan.strategy = *kind;
  }
  auto named = draft_of(options.run.experiment);
  if (!named) return report(named.error());
  plan.kernel = named->kernel;
  auto held = catalog::complete_config(plan.kernel, named->draft.config.knobs, named->draft.config.options);
  if (!held) return report(held.error());
  if (auto valid = validate(named->draft.problem, "problem"); !valid) return report(valid.error());
  auto space = space_of(options, plan.kernel, *held);
  if (!space) return report(space.error());
  plan.space = std::move(*space);
  auto place = place_of(options, named->draft);
  if (!place) return report(place.error());
  const DeviceSpec& device = place->device.device;
  if (auto runs = catalog::check_runs(plan.kernel, device); !runs) return report(runs.error());
  static_cast<Draft&>(plan.held) = named->draft;
  plan.held.config = *held;
  plan.held.device = device.id;
  plan.held.kernel_hash = plan.kernel.content_hash;
  auto candidates = search::candidates_of(plan.space, plan.kernel, plan.held.problem, device);
  if (candidates.configs.empty()) return report(nothing_left(candidates, plan.kernel.id));
  return Sweep(options, std::move(plan), std::move(candidates), std::move(*place)).run();
}

}  // namespace

void add_sweep(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("sweep", "Search a kernel's configs for the fastest correct one");
  auto options = std::make_shared<SweepOptions>();
  add_experiment_options(*command, options->run.experiment);
  add_worker_options(*command, options->run.workers);
  add_deadline_option(*command, options->run);
  command
      ->add_option("--space", options->space,
                   "Knobs and the values to try (docs/sweeping.md); else every value of the knobs without --set")
      ->type_name("FILE.json");
  command
      ->add_option(
          "--strategy", options->strategy,
          "exhaustive (the default), random, evolutionary, local, or model-guided: ranked by the emulated twin")
      ->type_name("WORD");
  command->add_option("--model", options->model, "With model-guided: rank on this emulated device")
      ->type_name("DEVICE");
  command->add_option("--budget", options->budget, "Try at most so many configs")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", options->seed, "Of what is random; the same one gives the same sweep")
      ->type_name("N")
      ->capture_default_str();
  auto* watch = command->add_flag("--watch{sample}", options->watch,
                                  "Look for races and what is right by luck in every config, not only in what leads");
  command->add_flag("--no-watch", options->no_watch, "Do not look for them; the output says what was not checked")
      ->excludes(watch);
  command->add_option("--t4", options->t4, "Also write every config in the format that Kernel Tuner reads")
      ->type_name("FILE.json");
  auto* replay =
      command
          ->add_option("--replay", options->replay,
                       "Run nothing: score the strategies that need no model on a recorded space in that format")
          ->type_name("FILE.json");
  command->add_option("--repeats", options->repeats, "With --replay: each strategy so often")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(2, 1'000'000))
      ->needs(replay);
  command->add_flag("--fresh", options->fresh, "Run again what earlier runs answer");
  command->add_flag("--all", options->all, "List every config, with the reason of each rejected one");
  command->add_flag("--json", options->json, "As JSON (docs/sweeping.md)");
  command->callback([options, &chosen] { chosen = [options] { return sweep(*options); }; });
}

}  // namespace attnscope::cli
