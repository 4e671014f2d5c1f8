#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <mutex>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "cli/worker_options.h"
#include "core/json.h"
#include "session/session.h"

namespace attnscope::cli {
namespace {

struct Found {
  std::vector<DeviceSpec> devices;
  std::vector<Failure> lost;  // workers
};

// Waits until every worker has said what devices it has, or is lost.
Result<Found> devices_of_workers(const std::vector<std::string>& workers) {
  auto options = session_options({}, false);
  if (!options) return fail(options.error());
  std::string none;
  if (auto added = add_workers(*options, workers, Named::asked, none); !added) return fail(added.error());
  options->first_experiment = false;
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t changes = 0;
  auto session = session::Session::start(*options, [&] {
    const std::lock_guard lock(mutex);
    ++changes;
    changed.notify_one();
  });
  if (!session) return fail(session.error());
  std::unique_lock lock(mutex);
  for (uint64_t seen = 0;; seen = changes) {
    const auto snapshot = (*session)->snapshot();
    bool starting = snapshot->workers.empty();
    Found found;
    for (const session::WorkerStatus& worker : snapshot->workers) {
      const bool is_lost = worker.state == session::WorkerState::lost;
      if (is_lost)
        found.lost.push_back({Stage::device, "worker " + worker.name + " cannot be had: " + worker.detail,
                              "Check its command; `attnscope doctor` tries every worker that the settings name."});
      starting |= worker.devices.empty() && !is_lost;
    }
    if (!starting) {
      found.devices = *snapshot->devices;
      return found;
    }
    changed.wait(lock, [&] { return changes != seen; });
  }
}

std::string text_of(const DeviceSpec& d) {
  return fmt::format("{:<18} {:<26} sm_{:<3} {:>4} SMs  {:>7} B shared a CTA  {}", d.id, d.name, d.arch, d.sms, d.shared_optin_block,
                     d.emulated ? "emulated on this CPU" : "GPU");
}

int list_devices(bool as_json, const std::vector<std::string>& workers) {
  auto found = devices_of_workers(workers);
  if (!found) return report(found.error());
  Json list = Json::array();
  std::string text;
  for (const DeviceSpec& device : found->devices) {
    list.push_back(to_json(device));
    text += text_of(device) + "\n";
  }
  print_result(as_json ? list.dump(2) : text);
  int status = kCorrectOrUnchecked;
  for (const Failure& lost : found->lost) status = report(lost);
  return status;
}

}  // namespace

void add_devices(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("devices", "List the devices, emulated ones included");
  auto as_json = std::make_shared<bool>(false);
  auto workers = std::make_shared<std::vector<std::string>>();
  command->add_flag("--json", *as_json, "As JSON, with every limit, rate and its source");
  add_worker_options(*command, *workers);
  command->callback([=, &chosen] { chosen = [=] { return list_devices(*as_json, *workers); }; });
}

}  // namespace attnscope::cli
