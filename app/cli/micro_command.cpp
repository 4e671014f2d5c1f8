#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/micro_text.h"
#include "cli/number_checks.h"
#include "cli/places.h"
#include "cli/sweep_place.h"
#include "cli/worker_options.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/near.h"

namespace attnscope::cli {
namespace {

struct MicroOptions {
  WorkerOptions workers;
  std::string problem, device;
  std::vector<std::string> fragments, settings;
  size_t top = sweep::MicroSeeds::kMost;
  bool fresh = false, json = false, csv = false;
};

// The named ones of `all`; without names, all of them.
Result<std::vector<Kernel>> chosen(std::vector<Kernel> all, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (find_kernel(all, name) == nullptr)
      return fail(Stage::input, "--fragment: no microbenchmark is called \"" + name + "\"",
                  names_to_choose(name, ids_of(all)));
  if (!names.empty())
    std::erase_if(all, [&](const Kernel& kernel) { return std::ranges::count(names, kernel.id) == 0; });
  return all;
}

// The settings for knobs that the kernel has.
Result<std::vector<std::pair<std::string, int64_t>>> settings_of(const Kernel& kernel,
                                                                 const std::vector<std::string>& settings) {
  std::vector<std::pair<std::string, int64_t>> held;
  for (const std::string& setting : settings) {
    if (kernel.find_knob(setting.substr(0, setting.find('='))) == nullptr) continue;
    auto parsed = catalog::parse_setting(kernel, setting);
    if (!parsed) return fail(parsed.error());
    held.push_back(std::move(*parsed));
  }
  return held;
}

// A setting for a knob that no fragment has is a mistake, and so is a value that one of them does not accept.
Result<void> check_settings(const std::vector<Kernel>& micros, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const std::string name = setting.substr(0, setting.find('='));
    if (std::ranges::any_of(micros, [&](const Kernel& micro) { return micro.find_knob(name) != nullptr; })) continue;
    return fail(catalog::parse_setting(micros.front(), setting).error());
  }
  for (const Kernel& micro : micros)
    if (auto held = settings_of(micro, settings); !held) return fail(held.error());
  return {};
}

Result<MicroBoard> run_micro(const Kernel& micro, const MicroOptions& options, const Problem& problem,
                             SweepPlace& place) {
  auto settings = settings_of(micro, options.settings);
  if (!settings) return fail(settings.error());
  std::map<std::string, int64_t> knobs(settings->begin(), settings->end());
  std::vector<std::string> fixed;
  for (const auto& [name, value] : knobs) fixed.push_back(name);
  auto held = catalog::complete_config(micro, knobs, micro.options);
  if (!held) return fail(held.error());
  auto asked = sweep::micro_search(micro, *held, fixed, problem, place.device.device);
  if (!asked) return fail(asked.error());
  MicroBoard board{&micro, {}, {}, {}, 0};
  if (asked->candidates.configs.empty() && asked->candidates.excluded.empty()) return board;
  sweep::Search::Settings how;
  how.watch = sweep::Watching::nothing;
  how.fresh = options.fresh;
  SweepLine line(place, asked->plan, asked->candidates.configs, micro.id + ": ");
  line.follow(how);
  sweep::Search search(std::move(asked->plan), std::move(asked->candidates), place, std::move(how));
  auto done = search.run();
  line.clear();
  for (const std::string& note : search.notes()) print_note("attnscope micro: " + note);
  if (!done) return fail(done.error());
  board.rejected = search.board().rejected;
  board.known = search.counts().known;
  std::vector<std::pair<sweep::MicroRow, const Observation*>> found;
  for (size_t at = 0; at < search.scan().points.size(); ++at) {
    const Observation* seen = search.scan().timed(at);
    if (seen == nullptr) continue;
    auto row = sweep::micro_row(micro, search.scan().points[at].config, *seen);
    if (!row) return fail(row.error());
    if (*row) found.emplace_back(std::move(**row), seen);
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first.per_work(); });
  for (auto& [row, seen] : found) {
    board.rows.push_back(std::move(row));
    board.runs.push_back(*seen);
  }
  return board;
}

int micro(const MicroOptions& options) {
  const auto places = find_places();
  if (!places) return report(places.error());
  auto problem = problem_from_text(options.problem);
  if (!problem) return report(problem.error());
  if (auto valid = validate(*problem, "problem"); !valid) return report(valid.error());
  auto all = sweep::micro_kernels(places->resources);
  if (!all) return report(all.error());
  auto micros = chosen(std::move(*all), options.fragments);
  if (!micros) return report(micros.error());
  if (auto known = check_settings(*micros, options.settings); !known) return report(known.error());
  std::string device = options.device;
  auto with = options_with_workers({sweep::micro_folder(places->resources).string()}, options.workers, device);
  if (!with) return report(with.error());
  auto place = SweepPlace::open(std::move(*with), device);
  if (!place) return report(place.error());
  std::vector<MicroBoard> boards;
  for (const Kernel& one : *micros) {
    auto board = run_micro(one, options, *problem, *place);
    if (!board) return report(board.error());
    if (!board->rows.empty() || !board->rejected.empty()) boards.push_back(std::move(*board));
  }
  if (boards.empty())
    return report({Stage::input, "no fragment is a part of " + short_text(*problem),
                   "They are for f16 and the usual head_dims, as D=64."});
  const MicroAsked asked{*problem, place->device.device.id};
  print_result(options.json  ? json_text(to_json(boards, asked), 2)
               : options.csv ? csv_of(boards, asked)
                             : text_of(boards, asked, options.top));
  const bool any = std::ranges::any_of(boards, [](const MicroBoard& board) { return !board.rows.empty(); });
  return any ? kCorrectOrUnchecked : kWrong;
}

}  // namespace

void add_micro(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("micro", "Clock fragments of attention (products, softmax, copies) over tile sizes");
  auto options = std::make_shared<MicroOptions>();
  command
      ->add_option("--problem", options->problem,
                   "The attention whose fragments are clocked; only head_dim and dtype count: D=64")
      ->type_name("SIZES");
  command->add_option("--device", options->device, "Else the first GPU, else the default emulated device")
      ->type_name("DEVICE");
  command->add_option("--fragment", options->fragments, "Only this kernel (may be repeated)")->type_name("ID");
  command->add_option("--set", options->settings, "Hold a knob of the fragments that have it (may be repeated)")
      ->type_name("KNOB=VALUE");
  add_worker_options(*command, options->workers);
  command->add_option("--top", options->top, "At most this many configs of each fragment in the table; 0: all")
      ->type_name("N")
      ->check(zero_or_more())
      ->capture_default_str();
  command->add_flag("--fresh", options->fresh, "Run also what earlier runs have answered");
  auto* json = command->add_flag("--json", options->json, "As JSON (docs/sweeping.md)");
  command->add_flag("--csv", options->csv, "As CSV")->excludes(json);
  command->callback([options, &chosen] { chosen = [options] { return micro(*options); }; });
}

}  // namespace attnscope::cli
