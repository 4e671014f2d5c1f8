#include "cli/one_run.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/waiting_words.h"
#include "core/device_id.h"
#include "session/run_once.h"

namespace attnscope::cli {
namespace {

constexpr int64_t kPatientMs = 20'000;

}  // namespace

void add_deadline_option(CLI::App& command, OneRun& run) {
  command.add_option("--deadline", run.deadline_ms, "End any stage that makes no progress for this long")
      ->type_name("MS")
      ->check(CLI::Range(1, 24 * 3600 * 1000));
}

CLI::Option* add_watch_option(CLI::App& command, std::string& watch, const char* about) {
  return command.add_flag("--watch{sample}", watch, about)->check(CLI::IsMember({"sample", kWatchAll}));
}

Result<Ran> run_one(const OneRun& run, double share) {
  auto named = draft_of(run.experiment);
  if (!named) return fail(named.error());
  // A preset's device is a wish; a worker on the command line overrides it.
  std::string device = run.experiment.device;
  auto session = options_with_workers(run.experiment.kernel_dirs, run.workers, device);
  if (!session) return fail(session.error());
  if (!device.empty()) named->draft.device = device;
  if (run.deadline_ms > 0)
    session->deadlines = {run.deadline_ms, run.deadline_ms, run.deadline_ms};
  else if (run.patient)
    session->deadlines.emulated_ms = kPatientMs;
  if (!run.worker_flag.empty())
    for (const std::string& name : add_worker_flag(session->workers, run.worker_flag))
      if (DeviceId(named->draft.device).is_of(name))
        return fail(Stage::input,
                    "the worker " + name + " cannot be given " + run.worker_flag + ": its command is its own",
                    "Name a worker whose command ends with the words `attnscope worker`.");
  named->draft.measure.max_time_ms = std::max(named->draft.measure.max_time_ms, run.emulated_ms);
  if (share > 0) named->draft.measure.sampled_share = share;
  WaitingWords words;
  std::atomic<bool> stop = false;
  const auto began = std::chrono::steady_clock::now();
  const auto look = [&](const session::Snapshot& now) {
    words.look(now);
    const bool late = run.most.count() > 0 && std::chrono::steady_clock::now() - began > run.most;
    if (late || (run.stop && *run.stop)) stop = true;
  };
  auto observation = session::run_once(*session, named->draft, run.watch, look, &stop);
  if (!observation) return fail(observation.error());
  return Ran{std::move(*observation), std::move(named->kernel)};
}

}  // namespace attnscope::cli
