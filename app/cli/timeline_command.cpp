#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/number_checks.h"
#include "cli/timeline_text.h"
#include "cli/waiting_words.h"
#include "cli/worker_options.h"
#include "core/device_id.h"
#include "core/escape.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

struct TimelineOptions {
  ExperimentOptions experiment;
  WorkerOptions workers;
  TimelineAsk ask;
  int64_t launch = 0;  // for a program, from 1; 0: the longest
  bool json = false;
};

// A GPU's kernel is watched too, unless its own clocks are asked for: the emulator then executes its machine code,
// which the model needs.
int timeline(const TimelineOptions& options) {
  TimelineAsk ask = options.ask;
  if (ask.to != 0 && ask.to < ask.from + TimelineAsk::kLeast)
    return report({Stage::input, "--to leaves too few clocks after --from",
                   "Ask for at least " + std::to_string(TimelineAsk::kLeast) + " clocks, or leave --to out."});
  if (options.launch > 0) ask.step = options.launch - 1;
  auto named = draft_of(options.experiment);
  if (!named) return report(named.error());
  auto session = bare_session(options.experiment, options.workers, named->draft);
  if (!session) return report(session.error());
  const DeviceId device(named->draft.device);
  const bool emulated = device.local.empty() || device.kind == DeviceId::Kind::emulated || ask.measured;
  const Observation seen =
      WaitingWords().wait(**session, named->draft, emulated ? session::Watch::never : session::Watch::always);
  if (seen.failure) return report(*seen.failure);
  auto listing = wait_for_timeline(**session, seen.experiment, ask);
  if (!listing) return report(listing.error());
  const SmTimeline& made = *(*listing)->timeline;
  print_result(options.json
                   ? json_text(timeline_json(made), 2)
                   : timeline_text(made, named->kernel.id + " " + short_text(seen.experiment.config, named->kernel),
                                   seen.device));
  return status_of(seen);
}

}  // namespace

void add_timeline(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "timeline",
      "Run an experiment and show its SMs over time, as modelled or by a GPU's clocks: CTAs, and the warps of one SM");
  auto options = std::make_shared<TimelineOptions>();
  add_experiment_options(*command, options->experiment);
  add_worker_options(*command, options->workers);
  command->add_option("--sm", options->ask.sm, "The SM whose warps are shown; else one with the most work")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("--from", options->ask.from, "The first clock of the warps that is shown")
      ->type_name("CLOCK")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 50));
  command->add_option("--to", options->ask.to, "The clock after the last one shown; else until the SM is empty")
      ->type_name("CLOCK")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 50));
  command->add_flag("--measured", options->ask.measured,
                    "On a GPU: what the SMs' own clocks say of an instrumented twin, in a launch that is not timed");
  command->add_option("--launch", options->launch, "Of a program of several launches: which, from 1; else the longest")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  command->add_flag("--json", options->json, "Every SM's CTAs and each column's shares, as JSON");
  command->callback([options, &chosen] { chosen = [options] { return timeline(*options); }; });
}

}  // namespace attnscope::cli
