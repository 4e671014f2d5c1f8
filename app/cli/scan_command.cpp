#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/scan_text.h"
#include "cli/scan_wait.h"
#include "cli/worker_options.h"
#include "core/escape.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

struct ScanOptions {
  ExperimentOptions experiment;
  WorkerOptions workers;
  std::vector<std::string> knobs;
  bool watch = false;
  bool json = false;
};

// The best status of any value: a scan looks for values that run, so one that does not run does not fail the scan.
int status_of_scan(const Scan& scan) {
  int least = kEnded;
  for (size_t at = 0; at < scan.points.size(); ++at) {
    const Observation* run = scan.timed(at);
    least = std::min<int>(least, run != nullptr ? status_of(*run) : kRefused);
  }
  return least;
}

int scan(const ScanOptions& options) {
  auto named = draft_of(options.experiment);
  if (!named) return report(named.error());
  auto session = bare_session(options.experiment, options.workers, named->draft);
  if (!session) return report(session.error());
  const auto watch = options.watch ? session::Watch::always : session::Watch::never;
  const auto scan = scan_and_wait(**session, {1, named->draft, options.knobs, watch});
  if (scan->failure) return report(*scan->failure);
  print_result(options.json ? json_text(to_json(*scan), 2) : text_of(*scan, named->kernel));
  return status_of_scan(*scan);
}

}  // namespace

void add_scan(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("scan", "Run every value of a knob with the others held: times and reasons");
  auto options = std::make_shared<ScanOptions>();
  add_experiment_options(*command, options->experiment);
  add_worker_options(*command, options->workers);
  command->add_option("--knob", options->knobs, "The knob (may be repeated: each in its turn); all without it")
      ->type_name("NAME");
  command->add_flag("--watch", options->watch, "Look for races, never-written reads and what is right by luck too");
  command->add_flag("--json", options->json, "As JSON, with the observations (docs/explaining.md)");
  command->callback([options, &chosen] { chosen = [options] { return scan(*options); }; });
}

}  // namespace attnscope::cli
