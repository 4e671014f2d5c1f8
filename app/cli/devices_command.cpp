#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "cli/worker_options.h"
#include "cli/worker_snapshot.h"
#include "core/escape.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

struct Found {
  std::vector<DeviceSpec> devices;
  std::vector<Failure> lost;  // workers
};

// Waits until every worker has listed its devices or is lost.
Result<Found> devices_of_workers(const WorkerOptions& workers) {
  std::string none;
  auto options = options_with_workers({}, workers, none);
  if (!options) return fail(options.error());
  auto snapshot = snapshot_with_devices(std::move(*options));
  if (!snapshot) return fail(snapshot.error());
  Found found{*(*snapshot)->devices, {}};
  for (const session::WorkerStatus& worker : (*snapshot)->workers)
    if (worker.state == session::WorkerState::lost)
      found.lost.push_back({Stage::device, "worker " + worker.name + " is not available: " + worker.detail,
                            "Check its command; `attnscope doctor` tries every worker that the settings name."});
  return found;
}

std::string text_of(const std::vector<DeviceSpec>& devices) {
  size_t id = 0, name = 0;  // columns
  for (const DeviceSpec& d : devices) {
    id = std::max(id, d.id.size());
    name = std::max(name, d.name.size());
  }
  std::string text;
  for (const DeviceSpec& d : devices)
    text += fmt::format("{:<{}}  {:<{}}  sm_{:<3} {:>4} SMs  {:>7} B shared per CTA  {}\n", one_line(d.id), id,
                        one_line(d.name), name, d.arch, d.sms, d.shared_optin_block,
                        d.emulated ? "emulated on this CPU" : "GPU");
  return text;
}

int list_devices(bool as_json, const WorkerOptions& workers) {
  auto found = devices_of_workers(workers);
  if (!found) return report(found.error());
  Json list = Json::array();
  for (const DeviceSpec& device : found->devices) list.push_back(to_json(device));
  print_result(as_json ? json_text(list, 2) : text_of(found->devices));
  int status = kCorrectOrUnchecked;
  for (const Failure& lost : found->lost) status = report(lost);
  return status;
}

}  // namespace

void add_devices(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("devices", "List the devices, emulated ones included");
  auto as_json = std::make_shared<bool>(false);
  auto workers = std::make_shared<WorkerOptions>();
  command->add_flag("--json", *as_json, "As JSON, with every limit, rate and its source");
  add_worker_options(*command, *workers);
  command->callback([=, &chosen] { chosen = [=] { return list_devices(*as_json, *workers); }; });
}

}  // namespace attnscope::cli
