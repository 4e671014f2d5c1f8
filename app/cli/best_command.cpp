#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <ctime>
#include <set>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "cli/bench_plan.h"
#include "cli/command.h"
#include "cli/device_wait.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/places.h"
#include "cli/tune.h"
#include "cli/worker_options.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "core/near.h"
#include "model/bars.h"
#include "platform/output_file.h"
#include "store/preset.h"
#include "store/results.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using report::TunedEntry;

constexpr int64_t kTuneMs = 200;  // of timing one config on a GPU

struct BestOptions {
  std::vector<std::string> problems, kernels, kernel_dirs;
  WorkerOptions workers;
  std::string device;
  std::string preset;                // file for the best one
  std::string tune;                  // folder of tables to update
  std::vector<std::string> configs;  // ID:KNOB=VALUE,…: only these are tried
  bool json = false;
};

struct Place {
  DeviceSpec device;
  std::unique_ptr<WaitingSession> session;  // null: the device is known without a worker
};

Result<Place> start_at(const BestOptions& options) {
  std::string device = options.device;
  auto session_opts = options_with_workers(options.kernel_dirs, options.workers, device);
  if (!session_opts) return fail(session_opts.error());
  auto waiting = WaitingSession::start(std::move(*session_opts));
  if (!waiting) return fail(waiting.error());
  auto found = (*waiting)->wait_for(device);
  if (!found) return fail(found.error());
  return Place{found->device, std::move(*waiting)};
}

// An emulated device is data; only a GPU's worker has to be asked what the device is.
Result<Place> place_of(const BestOptions& options, const std::vector<DeviceSpec>& known) {
  for (const DeviceSpec& spec : known)
    if (spec.id == options.device) return Place{spec, nullptr};
  return start_at(options);
}

// What the program has on disk, looked up once.
struct Known {
  Places places;
  std::vector<Kernel> kernels;
  std::vector<DeviceSpec> devices;  // emulated
};

bool is_wanted(const BestOptions& options, const Kernel& kernel) {
  return options.kernels.empty() || std::ranges::count(options.kernels, kernel.id) > 0;
}

// The entries of the program's own history for that problem on that device.
Result<std::vector<TunedEntry>> from_history(const fs::path& database, const Problem& problem,
                                             const DeviceSpec& device) {
  std::vector<TunedEntry> entries;
  std::error_code none;
  if (!fs::exists(database, none)) return entries;
  auto results = store::Results::open(database);
  if (!results) return fail(results.error());
  auto kept = (*results)->correct(problem);
  if (const auto trouble = (*results)->take_trouble())
    print_note(fmt::format("attnscope best: {}. {}", trouble->message, trouble->hint));
  if (!kept) return fail(kept.error());
  // Hashes of the configs in which a watch found an error: a run is also stored before its watch.
  std::set<std::string> racy;
  for (const store::StoredObservation& stored : *kept)
    if (is_of_watch(*headline_of(stored.observation))) racy.insert(stored.observation.hash);
  for (const store::StoredObservation& stored : *kept) {
    const Observation& o = stored.observation;
    const bool here = device.emulated ? o.device == device.id : o.versions.gpu == device.name;
    if (!here || !o.timing || o.timing->cache != CacheState::hot || !report::same_shape(o.experiment.problem, problem))
      continue;
    if (racy.contains(o.hash)) continue;
    TunedEntry entry =
        entry_of(o, fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(stored.finished_at))));
    entry.source = "history";
    entries.push_back(std::move(entry));
  }
  return entries;
}

// The best of each kernel, fastest first: a measured figure before a modelled one, a table before the history.
Result<std::vector<TunedEntry>> ranked(const BestOptions& options, const Problem& problem, const DeviceSpec& device,
                                       const Known& known) {
  auto tables = report::load_tuned(known.places.resources / "assets" / "tuned");
  if (!tables) return fail(tables.error());
  auto history = from_history(known.places.user.data / "results.sqlite", problem, device);
  if (!history) return fail(history.error());
  report::TunedTable ours{device.name, device.arch, {}};
  const auto better = [](const TunedEntry& a, const TunedEntry& b) {
    return a.kind != b.kind ? a.kind == FigureKind::measured : a.us < b.us;
  };
  std::stable_sort(history->begin(), history->end(), [&](const auto& a, const auto& b) { return better(b, a); });
  for (TunedEntry& entry : *history) put_entry(ours, std::move(entry));  // the best comes last and stays
  std::vector<TunedEntry> found;
  for (const Kernel& kernel : known.kernels) {
    if (!is_wanted(options, kernel)) continue;
    const TunedEntry* shipped = report::best_entry(*tables, device.name, problem, kernel.id);
    const TunedEntry* own = report::best_entry({ours}, device.name, problem, kernel.id);
    const TunedEntry* best =
        !shipped || (own && own->kind != shipped->kind && own->kind == FigureKind::measured) ? own : shipped;
    if (best) found.push_back(*best);
  }
  std::stable_sort(found.begin(), found.end(), better);
  return found;
}

bool of_another_version(const TunedEntry& entry, const std::vector<Kernel>& kernels) {
  const Kernel* kernel = find_kernel(kernels, entry.kernel);
  return kernel && kernel->content_hash != entry.kernel_hash;
}

std::string text_of(const std::vector<TunedEntry>& found, const Problem& problem, const DeviceSpec& device,
                    const std::vector<Kernel>& kernels, const fs::path& root) {
  std::string text = fmt::format("{} on {}, hot\n", report::problem_text(problem), one_line(device.name));
  for (const TunedEntry& entry : found) {
    const Kernel* kernel = find_kernel(kernels, entry.kernel);
    std::error_code none;
    const std::string source =
        entry.source == "history" ? entry.source : fs::relative(entry.source, root, none).generic_string();
    const TunedEntry& first = found.front();
    const bool modelled = entry.kind == FigureKind::modelled && first.kind == FigureKind::modelled;
    const bool apart = !modelled || model::paired(first.us, entry.us, device.arch).told_apart();
    text += fmt::format("  {:<10} {:>9} us {}  {}{}\n", entry.kernel, report::us_text(entry.us),
                        attnscope::to_string(entry.kind), short_text(entry.config, *kernel),
                        apart || &entry == &first ? "" : "; cannot be told apart from the first");
    text += fmt::format("  {:<10} {}, {}, NVRTC {}{}{}\n", "", one_line(source), one_line(entry.date),
                        one_line(entry.versions.nvrtc),
                        entry.versions.driver.empty() ? "" : ", driver " + one_line(entry.versions.driver),
                        of_another_version(entry, kernels) ? "; of another version of this kernel" : "");
  }
  return text;
}

Json json_of(const std::vector<TunedEntry>& found, const DeviceSpec& device, const std::vector<Kernel>& kernels) {
  Json json = report::to_json(report::TunedTable{device.name, device.arch, found});
  for (size_t i = 0; i < found.size(); ++i) {
    json["entries"][i]["source"] = found[i].source;
    json["entries"][i]["same_kernel"] = !of_another_version(found[i], kernels);
  }
  return json;
}

int show_best(const BestOptions& options, const Known& known, const Problem& problem) {
  auto place = place_of(options, known.devices);
  if (!place) return report(place.error());
  auto found = ranked(options, problem, place->device, known);
  if (!found) return report(found.error());
  if (found->empty())
    return report({Stage::input,
                   "no figure for " + report::problem_text(problem) + " on " + place->device.name + " is stored",
                   "Search for one: attnscope best --tune DIR --device " + place->device.id + " --problem …"});
  if (!options.preset.empty()) {
    const TunedEntry& best = found->front();
    store::Preset preset{{problem, best.kernel, best.config, place->device.id, {}}};
    preset.title = "Best for " + report::problem_text(problem) + " on " + place->device.name;
    if (auto written = store::write_preset(options.preset, preset, known.kernels); !written)
      return report(written.error());
  }
  print_result(options.json ? json_text(json_of(*found, place->device, known.kernels), 2)
                            : text_of(*found, problem, place->device, known.kernels, known.places.resources));
  return kCorrectOrUnchecked;
}

// A watch runs on an emulated device, with the GPU's architecture if the device is a GPU.
bool can_be_watched(const DeviceSpec& device, const std::vector<DeviceSpec>& known) {
  return std::ranges::any_of(known, [&](const DeviceSpec& spec) { return spec.arch == device.arch; });
}

// "l4" for emulated:l4 and for a GPU of that model; otherwise the GPU's name in lower case.
std::string table_name(const DeviceSpec& device, const std::vector<DeviceSpec>& known) {
  for (const DeviceSpec& spec : known)
    if (spec.name == device.name) return spec.id.substr(spec.id.find(':') + 1) + ".json";
  std::string name;
  for (const char c : device.name)
    name += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
  return name + ".json";
}

Result<report::TunedTable> read_table(const fs::path& file, const DeviceSpec& device) {
  std::error_code none;
  if (!fs::exists(file, none)) return report::TunedTable{device.name, device.arch, {}};
  return report::read_tuned(file);
}

using KnobValues = std::map<std::string, int64_t>;

// The configs that --config names, by kernel.
Result<std::map<std::string, std::vector<KnobValues>>> named_configs(const BestOptions& options,
                                                                     const std::vector<Kernel>& kernels) {
  std::map<std::string, std::vector<KnobValues>> named;
  for (const std::string& text : options.configs) {
    auto config = named_config(text, kernels, "--config");
    if (!config) return fail(config.error());
    named[config->kernel.id].push_back(config->knobs);
  }
  return named;
}

TuneRuns runs_at(Place& place, const Kernel& kernel, const Problem& problem, bool watched) {
  const auto run = [&place, &kernel, &problem](const KnobValues& knobs, session::Watch watch) {
    Draft draft{problem, kernel.id, {knobs, {}}, place.device.id, {}};
    draft.measure.max_time_ms = kTuneMs;
    if (place.device.emulated) draft.measure.sampled_share = emulated_share(problem);
    return place.session->session().queue(std::move(draft), watch).get();
  };
  TuneRuns runs;
  runs.plain = [run](const KnobValues& knobs) { return run(knobs, session::Watch::never); };
  if (watched) runs.watch = [run](const KnobValues& knobs) { return run(knobs, session::Watch::always); };
  return runs;
}

// Puts what was found into the table, on disk too.
Result<void> keep_found(const Tuned& found, const Problem& problem, const Kernel& kernel, report::TunedTable& table,
                        const fs::path& file) {
  const TunedEntry entry = entry_of(found.best, fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))));
  const bool put = put_entry(table, entry);
  print_note(fmt::format("attnscope best: {}, {}: {} us {} after {} configs: {}{}", report::problem_text(problem),
                         kernel.id, report::us_text(entry.us), attnscope::to_string(entry.kind), found.tried,
                         short_text(entry.config, kernel), put ? "" : " (the measured figure stays)"));
  return platform::write_output(file, json_text(report::to_json(table), 1) + "\n");
}

int tune_all(const BestOptions& options, const Known& known, const std::vector<Problem>& problems) {
  auto place = start_at(options);
  if (!place) return report(place.error());
  if (auto made = platform::make_output_folder(options.tune); !made) return report(made.error());
  const fs::path file = fs::path(options.tune) / table_name(place->device, known.devices);
  auto table = read_table(file, place->device);
  if (!table) return report(table.error());
  auto named = named_configs(options, known.kernels);
  if (!named) return report(named.error());
  const bool watched = can_be_watched(place->device, known.devices);
  bool any_found = false;
  std::optional<Failure> none_found;  // the last of several
  for (const Problem& problem : problems)
    for (const Kernel& kernel : known.kernels) {
      if (!is_wanted(options, kernel) || !kernel.library.is_source() || kernel.problem != problem.kind) continue;
      if (!named->empty() && !named->contains(kernel.id)) continue;
      const TuneRuns runs = runs_at(*place, kernel, problem, watched);
      auto found = named->empty() ? tune(kernel, problem, runs) : best_of(kernel, problem, named->at(kernel.id), runs);
      if (!found) {
        none_found = found.error();
        print_note(fmt::format("attnscope best: {}", found.error().message));
        continue;
      }
      any_found = true;
      if (auto kept = keep_found(*found, problem, kernel, *table, file); !kept) return report(kept.error());
    }
  if (none_found && !any_found) return status_of(*none_found);
  print_result(file.string() + "\n");
  return kCorrectOrUnchecked;
}

int best(const BestOptions& options) {
  auto places = find_places();
  if (!places) return report(places.error());
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return report(dirs.error());
  const Known known{*places, catalog::load_catalog(*dirs).kernels, emulated_devices(*places).devices};
  for (const std::string& id : options.kernels)
    if (!find_kernel(known.kernels, id))
      return report({Stage::input, "there is no kernel \"" + id + "\"", names_to_choose(id, ids_of(known.kernels))});
  auto problems = bench_problems(options.problems);
  if (!problems) return report(problems.error());
  if (!options.tune.empty()) return tune_all(options, known, *problems);
  return show_best(options, known, options.problems.empty() ? Problem{} : problems->front());
}

}  // namespace

void add_best(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("best", "The fastest correct config known for a problem on a device");
  auto options = std::make_shared<BestOptions>();
  command->add_option("--problem", options->problems, "B=1,H=8,S=512,D=64,causal=none; several with --tune")
      ->type_name("SIZES");
  command->add_option("--device", options->device, "Else the first GPU, else the default emulated device")
      ->type_name("DEVICE");
  command->add_option("--kernel", options->kernels, "Only this one (may be repeated)")->type_name("ID");
  add_kernels_option(*command, options->kernel_dirs);
  add_worker_options(*command, options->workers);
  command->add_option("--preset", options->preset, "Write the best as a preset")->type_name("FILE");
  command->add_option("--tune", options->tune, "Look for the best configs and write them into this folder's table")
      ->type_name("DIR");
  command
      ->add_option("--config", options->configs, "With --tune: try this config instead of a search (may be repeated)")
      ->type_name("ID:KNOB=VALUE,...");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, &chosen] { chosen = [options] { return best(*options); }; });
}

}  // namespace attnscope::cli
