#include <CLI/CLI.hpp>

#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/given_file.h"
#include "cli/one_run.h"
#include "cli/run_text.h"
#include "core/code_file.h"
#include "core/escape.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

struct RunOptions {
  GivenFile given;
  OneRun run;
  bool json = false;
  std::string watch;      // empty: on an emulated device; otherwise on a GPU too
  bool no_watch = false;  // watches nowhere
};

int run_experiment(const RunOptions& options) {
  auto named = named_by(options.given, options.run.experiment, options.run.deadline_ms);
  if (!named) return report(named.error());
  OneRun one = options.run;
  one.patient = true;
  one.experiment = named->options;
  one.watch = options.no_watch             ? session::Watch::never
              : options.watch == kWatchAll ? session::Watch::whole_grid
              : !options.watch.empty()     ? session::Watch::always
                                           : session::Watch::emulated;
  auto ran = run_one(one);
  if (!ran) return report(ran.error());
  const Observation& observation = ran->observation;
  print_result(options.json ? json_text(to_json(observation), 2)
                            : of_file_text(named->kernel) +
                                  text_of(observation, short_text(observation.experiment.config, ran->kernel),
                                          !is_machine_code(ran->kernel.source)));
  if (observation.failure) report(*observation.failure);
  return status_of(observation);
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("run", "Run one experiment and print the result");
  auto options = std::make_shared<RunOptions>();
  add_file_options(*command, options->given);
  add_experiment_options(*command, options->run.experiment);
  add_worker_options(*command, options->run.workers);
  add_deadline_option(*command, options->run);
  auto* watch = add_watch_option(*command, options->watch,
                                 "Look for races, never-written reads and what is right by luck on a GPU too; on an "
                                 "emulated device every run does. --watch=all: in every CTA, not only eight");
  command->add_flag("--no-watch", options->no_watch, "Do not look for them; the output says what was not checked")
      ->excludes(watch);
  command->add_flag("--json", options->json, "As JSON (docs/observation.schema.json)");
  command->callback([options, &chosen] { chosen = [options] { return run_experiment(*options); }; });
}

}  // namespace attnscope::cli
