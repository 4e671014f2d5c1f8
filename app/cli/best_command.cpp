#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <ctime>
#include <ranges>
#include <set>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "cli/bench_plan.h"
#include "cli/best_marks.h"
#include "cli/best_search.h"
#include "cli/best_text.h"
#include "cli/command.h"
#include "cli/device_wait.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/number_checks.h"
#include "cli/places.h"
#include "cli/sweep_place.h"
#include "cli/worker_options.h"
#include "core/device_id.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "core/near.h"
#include "model/bars.h"
#include "platform/atomic_file.h"
#include "platform/output_file.h"
#include "store/preset.h"
#include "store/results.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using report::TunedEntry;

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

struct BestOptions {
  std::vector<std::string> problems, kernels, kernel_dirs;
  WorkerOptions workers;
  std::string device;
  std::string preset;                // file for the best config
  std::string tune;                  // folder of tables to update
  std::vector<std::string> configs;  // ID:KNOB=VALUE,…: tries only these
  size_t budget = 0;                 // configs that a search tries per kernel; 0: not given
  bool json = false;
};

Result<SweepPlace> best_place(const BestOptions& options) {
  std::string device = options.device;
  auto with = options_with_workers(options.kernel_dirs, options.workers, device);
  if (!with) return fail(with.error());
  return SweepPlace::open(std::move(*with), device);
}

// An emulated device is data; only a GPU's worker has to be asked what the device is.
std::optional<DeviceSpec> known_device(const BestOptions& options, const std::vector<DeviceSpec>& known) {
  for (const DeviceSpec& spec : known)
    if (spec.id == options.device) return spec;
  return std::nullopt;
}

// The program's files, looked up once.
struct Known {
  Places places;
  std::vector<Kernel> kernels;
  std::vector<DeviceSpec> devices;  // emulated
  std::vector<report::TunedTable> shipped;
};

bool is_wanted(const BestOptions& options, const Kernel& kernel) {
  return options.kernels.empty() || std::ranges::count(options.kernels, kernel.id) > 0;
}

// The entries of the program's own history for that problem on that device.
Result<std::vector<TunedEntry>> from_history(store::Results& results, const Problem& problem,
                                             const DeviceSpec& device) {
  std::vector<TunedEntry> entries;
  auto kept = results.correct(problem);
  if (const auto trouble = results.take_trouble())
    print_note(fmt::format("attnscope best: {}. {}", trouble->message, trouble->hint));
  if (!kept) return fail(kept.error());
  std::set<std::string> racy;  // hashes
  for (const store::StoredObservation& stored : *kept)
    if (is_racy(stored.observation)) racy.insert(stored.observation.hash);
  for (const store::StoredObservation& stored : *kept) {
    const Observation& o = stored.observation;
    const bool here = device.emulated ? o.device == device.id : o.versions.gpu == device.name;
    if (!here || !o.timing || o.timing->cache != CacheState::hot || !report::same_shape(o.experiment.problem, problem))
      continue;
    if (racy.contains(o.hash)) continue;
    TunedEntry entry =
        report::entry_of(o, fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(stored.finished_at))));
    entry.source = kHistory;
    entries.push_back(std::move(entry));
  }
  return entries;
}

// The same from `open`, or if that is null from the results file if there is one. A file on a network takes only one
// connection.
Result<std::vector<TunedEntry>> from_history(store::Results* open, const Known& known, const Problem& problem,
                                             const DeviceSpec& device) {
  if (open != nullptr) return from_history(*open, problem, device);
  const fs::path file = known.places.user.data / "results.sqlite";
  if (!store::Results::has_any(file)) return std::vector<TunedEntry>{};
  auto results = store::Results::open(file);
  if (!results) return fail(results.error());
  return *results ? from_history(**results, problem, device) : std::vector<TunedEntry>{};
}

// The best of each kernel, fastest first: a measured figure before a modelled one, a table before the history unless it
// was searched now. In the history a kernel's present text goes before earlier ones.
Result<std::vector<TunedEntry>> ranked(const BestOptions& options, const Problem& problem, const DeviceSpec& device,
                                       const Known& known, store::Results* open,
                                       std::vector<TunedEntry> searched = {}) {
  auto history = from_history(open, known, problem, device);
  if (!history) return fail(history.error());
  history->insert(history->end(), searched.begin(), searched.end());  // the history may not be stored anywhere
  report::TunedTable ours{device.name, device.arch, {}};
  const auto better = [](const TunedEntry& a, const TunedEntry& b) {
    return a.kind != b.kind ? a.kind == FigureKind::measured : a.us < b.us;
  };
  std::stable_sort(history->begin(), history->end(), [&](const auto& a, const auto& b) {
    const bool earlier = of_another_version(a, known.kernels);
    return earlier == of_another_version(b, known.kernels) ? better(b, a) : earlier;
  });
  for (TunedEntry& entry : *history) put_entry(ours, std::move(entry));  // the best comes last and stays
  const std::vector<report::TunedTable> own_tables{std::move(ours)};
  std::vector<TunedEntry> found;
  for (const Kernel& kernel : known.kernels) {
    if (!is_wanted(options, kernel)) continue;
    const TunedEntry* shipped = report::best_entry(known.shipped, device.name, problem, kernel.id);
    const TunedEntry* own = report::best_entry(own_tables, device.name, problem, kernel.id);
    const bool searched_now = std::ranges::count(searched, kernel.id, &TunedEntry::kernel) > 0;
    const bool own_is_better = own && shipped && (searched_now || own->kind != shipped->kind) && better(*own, *shipped);
    const TunedEntry* best = !shipped || own_is_better ? own : shipped;
    if (best) found.push_back(*best);
  }
  std::stable_sort(found.begin(), found.end(), better);
  return found;
}

bool can_be_searched(const BestOptions& options, const Kernel& kernel, const Problem& problem) {
  return is_wanted(options, kernel) && kernel.library.is_source() && kernel.problem == problem.kind;
}

void say_found(const TunedEntry& entry, const Kernel& kernel, size_t tried, const std::string& more) {
  print_note(fmt::format("attnscope best: {}, {}: {} us {} after {} configs: {}{}", report::problem_text(entry.problem),
                         kernel.id, report::us_text(entry.us), attnscope::to_string(entry.kind), tried,
                         short_text(entry.config, kernel), more));
}

// "l4" for emulated:l4 and for a GPU of that model; otherwise the GPU's name in lower case.
std::string table_name(const DeviceSpec& device, const std::vector<DeviceSpec>& known) {
  for (const DeviceSpec& spec : known)
    if (spec.name == device.name) return std::string(DeviceId(spec.id).name) + ".json";
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

// Stores the result of a search, which `attnscope bench` uses too. A narrower search leaves a faster config in its
// place.
Result<void> keep_in_own_table(const Known& known, const DeviceSpec& device, const TunedEntry& entry) {
  const fs::path file = own_tables_of(known.places) / table_name(device, known.devices);
  auto table = read_table(file, device);
  if (!table) return fail(table.error());
  const std::vector<report::TunedTable> before{*table};
  const TunedEntry* kept = report::best_entry(before, device.name, entry.problem, entry.kernel);
  if (kept && kept->kernel_hash == entry.kernel_hash && kept->kind == entry.kind && kept->us < entry.us &&
      kept->config != entry.config)
    return {};
  put_entry(*table, entry);
  return platform::write_file(file, json_text(report::to_json(*table), 1) + "\n");
}

// The entries for a problem, fastest first.
struct BestAnswer {
  std::vector<TunedEntry> entries;
  ExitStatus none_status = kBadInput;  // if there are none
};

// Runs the searches of these kernels. Those that find nothing are named.
Result<BestAnswer> searched(const BestOptions& options, const Known& known, const Problem& problem,
                            const std::vector<const Kernel*>& kernels, const BestMarks& marks, SweepPlace& place) {
  const size_t budget = options.budget > 0 ? options.budget : BestSearch::kUsualBudget;
  std::vector<size_t> before;  // the budgets of earlier searches
  for (const Kernel* kernel : kernels) before.push_back(marks.ended(*kernel));
  for (const Kernel* kernel : kernels)
    if (auto put = marks.begin(*kernel); !put) {
      print_note("attnscope best: if it is interrupted, it will start again from the beginning: " +
                 put.error().message);
      break;
    }
  BestSearch search(place, known.shipped, budget);
  BestAnswer answer;
  for (size_t at = 0; at < kernels.size(); ++at) {
    const Kernel& kernel = *kernels[at];
    auto found = search.search(kernel, problem);
    if (!found && found.error().stage != Stage::input) return fail(found.error());
    if (found && found->best) {
      TunedEntry& entry = answer.entries.emplace_back(report::entry_of(*found->best, today()));
      entry.source = kHistory;
      say_found(entry, kernel, found->tried, "");
      if (auto kept = keep_in_own_table(known, place.device.device, entry); !kept)
        print_note("attnscope best: `attnscope bench` will not know it: " + kept.error().message);
    } else {
      print_note("attnscope best: " + (found ? found->why_none : found.error()).message);
      if (found) answer.none_status = better_status(answer.none_status, found->status);
    }
    if (!marks.end(kernel, std::max(budget, before[at]))) marks.take(kernel);  // without a mark it is only repeated
  }
  return answer;
}

// The stored figures, and those that a search finds now of each kernel that has no figure in a shipped table and whose
// search has not finished yet: a run of a config says nothing about the others. An interrupted search continues. Opens
// `place` only if a worker must be asked.
Result<BestAnswer> found_or_searched(const BestOptions& options, const Known& known, const Problem& problem,
                                     const DeviceSpec& device, std::optional<SweepPlace>& place) {
  auto found = ranked(options, problem, device, known, place ? place->results.get() : nullptr);
  if (!found) return fail(found.error());
  const BestMarks marks(known.places.user.data / "searches", problem, device);
  const auto is_known = [&](const Kernel& kernel) {
    if (report::best_entry(known.shipped, device.name, problem, kernel.id)) return !marks.begun(kernel);
    // A search may have ended without a correct config. It is repeated only if no kernel has one, to say why.
    return marks.ended(kernel) >= BestSearch::kUsualBudget && !found->empty();
  };
  std::vector<const Kernel*> wanted;
  // The last rungs first, because they are the fastest, so that an interruption leaves what matters most.
  for (const Kernel& kernel : known.kernels | std::views::reverse)
    if (can_be_searched(options, kernel, problem) && (options.budget > 0 || !is_known(kernel)))
      wanted.push_back(&kernel);
  if (wanted.empty()) return BestAnswer{std::move(*found)};
  if (!place) {
    auto opened = best_place(options);
    if (!opened) return fail(opened.error());
    place = std::move(*opened);
  }
  auto now = searched(options, known, problem, wanted, marks, *place);
  if (!now) return now;
  found = ranked(options, problem, device, known, place->results.get(), std::move(now->entries));
  if (!found) return fail(found.error());
  return BestAnswer{std::move(*found), now->none_status};
}

int show_best(const BestOptions& options, const Known& known, const Problem& problem) {
  std::optional<DeviceSpec> device = known_device(options, known.devices);
  std::optional<SweepPlace> place;
  if (!options.preset.empty())
    if (auto possible = platform::check_output(options.preset); !possible) return report(possible.error());
  if (auto valid = validate(problem, "problem"); !valid) return report(valid.error());
  if (!device) {
    auto opened = best_place(options);
    if (!opened) return report(opened.error());
    place = std::move(*opened);
    device = place->device.device;
  }
  auto answer = found_or_searched(options, known, problem, *device, place);
  if (!answer) return report(answer.error());
  const std::vector<TunedEntry>& found = answer->entries;
  if (found.empty()) {
    print_failure({Stage::input,
                   "no config that was tried is correct for " + report::problem_text(problem) + " on " + device->name,
                   "`attnscope sweep` lists each config with the reason; --kernel names the kernel."});
    return answer->none_status;
  }
  if (!options.preset.empty()) {
    const TunedEntry& best = found.front();
    store::Preset preset{{problem, best.kernel, best.config, device->id, {}}};
    preset.title = "Best for " + report::problem_text(problem) + " on " + device->name;
    if (auto written = store::write_preset(options.preset, preset, known.kernels); !written)
      return report(written.error());
  }
  print_result(options.json ? json_text(best_json(found, *device, known.kernels), 2)
                            : best_text(found, problem, *device, known.kernels, known.places.resources));
  return kCorrectOrUnchecked;
}

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

// Adds the result to the table and writes the table.
Result<void> keep_found(const FoundBest& found, const Kernel& kernel, report::TunedTable& table, const fs::path& file) {
  const TunedEntry entry = report::entry_of(*found.best, today());
  const bool put = put_entry(table, entry);
  say_found(entry, kernel, found.tried, put ? "" : " (the measured figure stays)");
  return platform::write_output(file, json_text(report::to_json(table), 1) + "\n");
}

int tune_all(const BestOptions& options, const Known& known, const std::vector<Problem>& problems) {
  auto place = best_place(options);
  if (!place) return report(place.error());
  if (auto made = platform::make_output_folder(options.tune); !made) return report(made.error());
  const fs::path file = fs::path(options.tune) / table_name(place->device.device, known.devices);
  auto table = read_table(file, place->device.device);
  if (!table) return report(table.error());
  auto named = named_configs(options, known.kernels);
  if (!named) return report(named.error());
  BestSearch search(*place, {*table}, options.budget > 0 ? options.budget : BestSearch::kUsualBudget);
  bool any_found = false;
  std::optional<ExitStatus> none_found;
  for (const Problem& problem : problems)
    for (const Kernel& kernel : known.kernels) {
      if (!can_be_searched(options, kernel, problem) || (!named->empty() && !named->contains(kernel.id))) continue;
      auto found =
          named->empty() ? search.search(kernel, problem) : search.search(kernel, problem, named->at(kernel.id));
      if (!found || !found->best) {
        print_note("attnscope best: " + (found ? found->why_none : found.error()).message);
        none_found = better_status(none_found.value_or(kBadInput), found ? found->status : status_of(found.error()));
        continue;
      }
      any_found = true;
      if (auto kept = keep_found(*found, kernel, *table, file); !kept) return report(kept.error());
    }
  if (none_found && !any_found) return *none_found;
  print_result(file.string() + "\n");
  return kCorrectOrUnchecked;
}

int best(const BestOptions& options) {
  auto places = find_places();
  if (!places) return report(places.error());
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return report(dirs.error());
  Known known{*places, catalog::load_catalog(*dirs).kernels, emulated_devices(*places).devices, {}};
  for (const std::string& id : options.kernels)
    if (!find_kernel(known.kernels, id))
      return report({Stage::input, "there is no kernel \"" + id + "\"", names_to_choose(id, ids_of(known.kernels))});
  auto problems = bench_problems(options.problems);
  if (!problems) return report(problems.error());
  if (!options.tune.empty()) return tune_all(options, known, *problems);
  auto shipped = report::load_tuned(places->resources / "assets" / "tuned");
  if (!shipped) return report(shipped.error());
  known.shipped = std::move(*shipped);
  return show_best(options, known, options.problems.empty() ? Problem{} : problems->front());
}

}  // namespace

void add_best(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "best", "The fastest correct config for a problem on a device; searched for where none is known");
  auto options = std::make_shared<BestOptions>();
  command->add_option("--problem", options->problems, "B=1,H=8,S=512,D=64,causal=none; several with --tune")
      ->type_name("SIZES");
  command->add_option("--device", options->device, "Else the first GPU, else the default emulated device")
      ->type_name("DEVICE");
  command->add_option("--kernel", options->kernels, "Only this kernel (may be repeated)")->type_name("ID");
  add_kernels_option(*command, options->kernel_dirs);
  add_worker_options(*command, options->workers);
  command->add_option("--preset", options->preset, "Write the best as a preset")->type_name("FILE");
  command->add_option("--tune", options->tune, "Look for the best configs and write them into this folder's table")
      ->type_name("DIR");
  command
      ->add_option("--config", options->configs, "With --tune: try this config instead of a search (may be repeated)")
      ->type_name("ID:KNOB=VALUE,...");
  command
      ->add_option(
          "--budget", options->budget,
          fmt::format("Search every kernel, also where its best is known, and try at most this many configs of each; "
                      "by default {} with --tune, or where it is not known",
                      BestSearch::kUsualBudget))
      ->type_name("N")
      ->check(above_zero());
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, &chosen] { chosen = [options] { return best(*options); }; });
}

}  // namespace attnscope::cli
