#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "cli/worker_options.h"
#include "cli/worker_snapshot.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/json.h"
#include "model/assumed_rates.h"

namespace attnscope::cli {
namespace {

constexpr std::string_view kRates = "rates/";  // before a rate's name among the sources

struct FoundDevices {
  std::vector<DeviceSpec> devices;
  std::vector<Failure> missing;  // why some are not there: files of one's own that are refused, lost workers
};

// Waits until every worker has listed its devices or is lost.
Result<FoundDevices> devices_of_workers(const WorkerOptions& workers) {
  auto places = find_places();
  if (!places) return fail(places.error());
  std::string none;
  auto options = options_with_workers({}, workers, none);
  if (!options) return fail(options.error());
  auto snapshot = snapshot_with_devices(std::move(*options));
  if (!snapshot) return fail(snapshot.error());
  FoundDevices found{*(*snapshot)->devices, emulated_devices(*places).failures};
  for (const session::WorkerStatus& worker : (*snapshot)->workers)
    if (worker.state == session::WorkerState::lost)
      found.missing.push_back({Stage::device, "worker " + worker.name + " is not available: " + worker.detail,
                               "Check its command; `attnscope doctor` tries every worker that the settings name."});
  return found;
}

std::string devices_text(const std::vector<DeviceSpec>& devices) {
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

// Every limit and rate with its source; a GPU's own limits come from its driver and have none. Rates that the model
// assumes are among them.
std::string spec_text(const DeviceSpec& spec) {
  std::string text = fmt::format("{}  {}\n", one_line(spec.id), one_line(spec.name));
  const auto add = [&](const std::string& name, const Json& value) {
    const auto source = spec.sources.find(name);
    text += fmt::format("{:<24}{:>10}  {}\n", one_line(name),
                        one_line(value.is_string() ? value.get<std::string>() : value.dump()),
                        source == spec.sources.end() ? "" : one_line(source->second));
  };
  const Json fields = to_json(spec);
  for (const auto& [name, value] : fields.items())
    if (value.is_number()) add(name, value);
  for (const auto& [rate, value] : fields.at("rates").items()) add(std::string(kRates) + rate, value);
  for (const auto& [name, source] : spec.sources)
    if (name.starts_with(kRates) && !spec.rates.contains(name.substr(kRates.size()))) add(name, "none");
  return text;
}

int show_spec(const std::string& id, bool as_json, const std::vector<DeviceSpec>& devices) {
  const auto found = std::ranges::find(devices, id, &DeviceSpec::id);
  if (found == devices.end())
    return report({Stage::input, "there is no device \"" + id + "\"",
                   "Use one of " + joined(devices, [](const DeviceSpec& one) { return one.id; }) + "."});
  const DeviceSpec complete = model::with_assumed_rates(*found);
  print_result(as_json ? json_text(to_json(complete), 2) : spec_text(complete));
  return kCorrectOrUnchecked;
}

int list_devices(bool as_json, const std::string& spec, const WorkerOptions& workers) {
  auto found = devices_of_workers(workers);
  if (!found) return report(found.error());
  int status = kCorrectOrUnchecked;
  for (const Failure& why : found->missing) status = report(why);
  if (!spec.empty()) return show_spec(spec, as_json, found->devices);
  Json list = Json::array();
  for (const DeviceSpec& device : found->devices) list.push_back(to_json(model::with_assumed_rates(device)));
  print_result(as_json ? json_text(list, 2) : devices_text(found->devices));
  return status;
}

}  // namespace

void add_devices(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("devices", "List the devices, emulated ones included");
  auto as_json = std::make_shared<bool>(false);
  auto spec = std::make_shared<std::string>();
  auto workers = std::make_shared<WorkerOptions>();
  command->add_flag("--json", *as_json, "As JSON, with every limit, rate and its source");
  command->add_option("--spec", *spec, "Print only this device, with every limit, rate and its source")
      ->type_name("ID");
  add_worker_options(*command, *workers);
  command->callback([=, &chosen] { chosen = [=] { return list_devices(*as_json, *spec, *workers); }; });
}

}  // namespace attnscope::cli
