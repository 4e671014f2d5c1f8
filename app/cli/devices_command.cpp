#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <mutex>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "core/json.h"
#include "session/session.h"

namespace attnscope::cli {
namespace {

// Waits until every worker has said what devices it has, or is lost.
Result<std::vector<DeviceSpec>> devices_of_workers() {
  auto options = session_options({}, false);
  if (!options) return fail(options.error());
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
    for (const session::WorkerStatus& worker : snapshot->workers) {
      if (worker.state == session::WorkerState::lost) return fail(Stage::device, "the worker \"" + worker.name + "\" is lost: " + worker.detail);
      starting |= worker.devices.empty();
    }
    if (!starting) return *snapshot->devices;
    changed.wait(lock, [&] { return changes != seen; });
  }
}

std::string text_of(const DeviceSpec& d) {
  return fmt::format("{:<18} {:<26} sm_{:<3} {:>4} SMs  {:>7} B shared a CTA  {}", d.id, d.name, d.arch, d.sms, d.shared_optin_block,
                     d.emulated ? "emulated on this CPU" : "GPU");
}

int list_devices(bool as_json) {
  auto devices = devices_of_workers();
  if (!devices) return report(devices.error());
  Json list = Json::array();
  std::string text;
  for (const DeviceSpec& device : *devices) {
    list.push_back(to_json(device));
    text += text_of(device) + "\n";
  }
  print_result(as_json ? list.dump(2) : text);
  return kCorrectOrUnchecked;
}

}  // namespace

void add_devices(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("devices", "List the devices, emulated ones included");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "As JSON, with every limit, rate and its source");
  command->callback([as_json, &chosen] { chosen = [as_json] { return list_devices(*as_json); }; });
}

}  // namespace attnscope::cli
