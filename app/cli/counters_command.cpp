#include <CLI/CLI.hpp>

#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/counters_text.h"
#include "cli/exit_status.h"
#include "cli/given_file.h"
#include "cli/one_run.h"
#include "core/device_id.h"
#include "core/escape.h"
#include "core/json.h"
#include "worker/purpose.h"

namespace attnscope::cli {
namespace {

constexpr int64_t kMostEmulatedMs = 60000;  // enough to count every CTA of an ordinary problem

struct CountersOptions {
  GivenFile given;
  OneRun run;
  bool json = false;
};

Failure no_counters(const std::string& device) {
  return {Stage::device, device + " has no hardware counters that attnscope reads",
          "Name a GPU with --device; `attnscope devices` lists them."};
}

// Its worker's processes do nothing else, and end with the command.
int counters(const CountersOptions& options) {
  const std::string& asked = options.run.experiment.device;
  if (DeviceId(asked).kind == DeviceId::Kind::emulated) return report(no_counters(asked));
  auto named = named_by(options.given, options.run.experiment, options.run.deadline_ms);
  if (!named) return report(named.error());
  OneRun one = options.run;
  one.experiment = named->options;
  if (one.experiment.device.empty() && one.workers.given.empty()) {
    auto draft = draft_of(one.experiment);
    if (!draft) return report(draft.error());
    const DeviceId wished(draft->draft.device);
    const bool none = wished.is_own() && (wished.local.empty() || wished.kind == DeviceId::Kind::emulated);
    one.experiment.device = none ? gpu_id(0) : draft->draft.device;
  }
  one.watch = session::Watch::never;
  one.worker_flag = worker::kProfileFlag;
  one.emulated_ms = kMostEmulatedMs;
  auto ran = run_one(one);
  if (!ran) return report(ran.error());
  const Observation& seen = ran->observation;
  if (seen.failure && !seen.hardware && !seen.counters) return report(*seen.failure);
  if (!seen.hardware) return report(no_counters(seen.device));
  print_result(options.json ? json_text(to_json(seen), 2)
                            : counters_text(seen, short_text(seen.experiment.config, ran->kernel)));
  int status = status_of(seen);
  if (seen.hardware->failure) status = report(*seen.hardware->failure);
  if (seen.failure) status = report(*seen.failure);
  return status;
}

}  // namespace

void add_counters(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "counters", "Read a GPU's own counters (CUPTI) beside what the emulator counts of the same machine code");
  auto options = std::make_shared<CountersOptions>();
  add_file_options(*command, options->given);
  add_experiment_options(*command, options->run.experiment);
  add_worker_options(*command, options->run.workers);
  add_deadline_option(*command, options->run);
  command->add_flag("--json", options->json,
                    "The observation with its hardware counters (docs/observation.schema.json)");
  command->callback([options, &chosen] { chosen = [options] { return counters(*options); }; });
}

}  // namespace attnscope::cli
