#include <CLI/CLI.hpp>

#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/places.h"
#include "cli/run_text.h"
#include "cli/waiting_words.h"
#include "cli/worker_options.h"
#include "core/escape.h"
#include "core/json.h"
#include "session/run_once.h"

namespace attnscope::cli {
namespace {

struct Options {
  ExperimentOptions experiment;
  WorkerOptions workers;
  int deadline_ms = 0;  // 0: the stages' defaults
  bool json = false;
  bool watch = false;     // on a GPU too
  bool no_watch = false;  // nowhere
};

int run(const Options& options) {
  auto named = draft_of(options.experiment);
  if (!named) return report(named.error());
  // A preset's device is a wish; a worker on the command line overrides it.
  std::string device = options.experiment.device;
  auto session = options_with_workers(options.experiment.kernel_dirs, options.workers, device);
  if (!session) return report(session.error());
  if (!device.empty()) named->draft.device = device;
  if (options.deadline_ms > 0) session->deadlines = {options.deadline_ms, options.deadline_ms, options.deadline_ms};
  const auto watch = options.no_watch ? session::Watch::never
                     : options.watch  ? session::Watch::always
                                      : session::Watch::emulated;
  auto observation =
      session::run_once(*session, named->draft, watch,
                        [words = std::make_shared<WaitingWords>()](const session::Snapshot& now) { words->look(now); });
  if (!observation) return report(observation.error());
  print_result(options.json ? json_text(to_json(*observation), 2)
                            : text_of(*observation, short_text(observation->experiment.config, named->kernel)));
  if (observation->failure) report(*observation->failure);
  return status_of(*observation);
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("run", "Run one experiment and print the result");
  auto options = std::make_shared<Options>();
  add_experiment_options(*command, options->experiment);
  add_worker_options(*command, options->workers);
  command->add_option("--deadline", options->deadline_ms, "End any stage that makes no progress for this long")
      ->type_name("MS")
      ->check(CLI::Range(1, 24 * 3600 * 1000));
  auto* watch = command->add_flag("--watch", options->watch,
                                  "Look for races, never-written reads and what is right by luck on a GPU too; on an "
                                  "emulated device every run does");
  command->add_flag("--no-watch", options->no_watch, "Do not look for them; the output says what was not checked")
      ->excludes(watch);
  command->add_flag("--json", options->json, "As JSON (docs/observation.schema.json)");
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace attnscope::cli
