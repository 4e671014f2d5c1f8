#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "charts/leaderboard.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/leaderboard_text.h"
#include "cli/number_checks.h"
#include "cli/places.h"
#include "cli/results_text.h"
#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "core/options.h"
#include "platform/temporary_folder.h"
#include "store/results.h"
#include "sweep/twin.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using store::ResultKey;
using store::ResultOrder;

constexpr int64_t kListed = 20;  // lines in the terminal without --limit

struct ResultsOptions {
  std::string store;  // file; empty: the program's own
  std::string merge;  // file
  std::vector<std::string> kernels, settings, compile_options;
  std::string device, problem, verdict, since;
  std::vector<std::string> kernel_dirs;
  bool fastest = false, leaderboard = false, pairs = false, csv = false, json = false;
  std::optional<int64_t> limit;  // 0: all
};

Result<double> seconds_of(const std::string& date) {
  int year = 0;
  unsigned month = 0, day = 0;
  char more = 0;
  const bool read = std::sscanf(date.c_str(), "%4d-%2u-%2u%c", &year, &month, &day, &more) == 3;
  const std::chrono::year_month_day at{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!read || !at.ok())
    return fail(Stage::input, "--since " + date + " is not a date", "Give year, month and day (UTC): 2026-11-22.");
  return static_cast<double>(std::chrono::sys_days(at).time_since_epoch() / std::chrono::seconds(1));
}

// A value of a knob that --set names, as the JSON of a config has it: "KNOB":8
struct WantedKnob {
  std::string text;                                           // of a number; empty: it is a label
  std::map<std::string, std::string, std::less<>> of_kernel;  // by kernel id, where its manifest has the label
};

std::string knob_text(const std::string& knob, int64_t value) { return fmt::format("\"{}\":{}", knob, value); }

// A label has a value only in a manifest: of the kernels that --kernel names, or else of all.
Result<WantedKnob> wanted_label(const std::string& setting, const ResultsOptions& options) {
  auto folders = kernel_dirs(options.kernel_dirs);
  if (!folders) return fail(folders.error());
  WantedKnob wanted;
  std::optional<Failure> refused;
  for (const Kernel& kernel : catalog::load_catalog(*folders).kernels) {
    if (!options.kernels.empty() && std::ranges::count(options.kernels, kernel.id) == 0) continue;
    const auto parsed = catalog::parse_setting(kernel, setting);
    if (parsed)
      wanted.of_kernel[kernel.id] = knob_text(parsed->first, parsed->second);
    else if (!options.kernels.empty())
      refused = parsed.error();
  }
  if (!wanted.of_kernel.empty()) return wanted;
  if (refused) return fail(*refused);
  return fail(Stage::input, "--set " + setting + ": no kernel has such a knob and label",
              "Give a whole number, KNOB=8, or a label of the kernel's manifest.");
}

Result<std::vector<WantedKnob>> wanted_knobs(const ResultsOptions& options) {
  std::vector<WantedKnob> knobs;
  for (const std::string& setting : options.settings) {
    const size_t equals = setting.find('=');
    int64_t value = 0;
    char more = 0;
    if (equals == std::string::npos || equals == 0 || equals + 1 == setting.size())
      return fail(Stage::input, "--set " + setting + " is not KNOB=VALUE",
                  "Give a knob and a whole number or a label: KNOB=8.");
    if (std::sscanf(setting.c_str() + equals + 1, "%" SCNd64 "%c", &value, &more) == 1) {
      knobs.push_back({knob_text(setting.substr(0, equals), value), {}});
      continue;
    }
    auto wanted = wanted_label(setting, options);
    if (!wanted) return fail(wanted.error());
    knobs.push_back(std::move(*wanted));
  }
  return knobs;
}

bool has_knob(std::string_view config, const std::string& knob) {
  const size_t at = config.find(knob);
  if (at == config.npos) return false;
  const size_t after = at + knob.size();
  return after < config.size() && (config[after] == ',' || config[after] == '}');
}

bool has_knob(const ResultKey& key, const WantedKnob& wanted) {
  if (!wanted.text.empty()) return has_knob(key.config(), wanted.text);
  const auto found = wanted.of_kernel.find(key.kernel());
  return found != wanted.of_kernel.end() && has_knob(key.config(), found->second);
}

// A value of a compile option that --option names.
struct WantedOption {
  std::string key;        // "maxrregcount":
  std::string value;      // as in the JSON of a config
  bool is_usual = false;  // a config that lacks the key has this value
};

Result<std::vector<WantedOption>> wanted_options(const std::vector<std::string>& texts) {
  std::vector<WantedOption> wanted;
  for (const std::string& text : texts) {
    Config config;
    if (auto applied = apply_option(config.options, text); !applied) return fail(applied.error());
    const std::string name = text.substr(0, text.find('='));
    const bool is_usual = option_value(config.options, name) == option_value(CompileOptions{}, name);
    wanted.push_back({fmt::format("\"{}\":", name), json_text(options_json(config)[name]), is_usual});
  }
  return wanted;
}

bool has_option(std::string_view config, const WantedOption& wanted) {
  constexpr std::string_view kBegin = "\"options\":{";
  const size_t begin = config.find(kBegin);
  if (begin == config.npos) return wanted.is_usual;
  std::string_view options = config.substr(begin + kBegin.size());
  options = options.substr(0, options.find('}'));
  const size_t at = options.find(wanted.key);
  if (at == options.npos) return wanted.is_usual;
  options = options.substr(at + wanted.key.size());
  return options.substr(0, options.find(',')) == wanted.value;
}

// The options as a filter of rows.
class Filter {
 public:
  explicit Filter(const ResultsOptions& options) : options_(options) {}
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  // Before the first row.
  Result<void> read_options() {
    if (!options_.since.empty()) {
      auto since = seconds_of(options_.since);
      if (!since) return fail(since.error());
      since_ = *since;
    }
    auto knobs = wanted_knobs(options_);
    if (!knobs) return fail(knobs.error());
    knobs_ = std::move(*knobs);
    auto compile_options = wanted_options(options_.compile_options);
    if (!compile_options) return fail(compile_options.error());
    compile_options_ = std::move(*compile_options);
    const auto verdict = parse_word<Headline>(options_.verdict);
    if (!options_.verdict.empty() && (!verdict || is_of_watch(*verdict)))
      return fail(Stage::input, "--verdict " + options_.verdict + " is not a verdict",
                  "Choose correct, agrees, wrong or unchecked.");
    return {};
  }

  bool wants(const ResultKey& key) {
    return (options_.kernels.empty() || std::ranges::count(options_.kernels, key.kernel()) > 0) &&
           (options_.verdict.empty() || key.outcome() == options_.verdict) &&
           (!since_ || key.finished_at() >= *since_) && is_on_device(key) &&
           (options_.problem.empty() || of_problem_(key.problem())) &&
           std::ranges::all_of(knobs_, [&](const WantedKnob& knob) { return has_knob(key, knob); }) &&
           std::ranges::all_of(compile_options_, [&](const auto& option) { return has_option(key.config(), option); });
  }

  // A failure if the text of --problem did not fit any problem that was checked.
  std::optional<Failure> misunderstood() const { return understood_ ? std::nullopt : wrong_problem_; }

 private:
  bool is_on_device(const ResultKey& key) const {
    return options_.device.empty() || key.device() == options_.device || key.gpu() == options_.device;
  }

  // True if the text of --problem changes nothing in the problem, so that it has the sizes that the text names.
  bool has_sizes(const Problem& problem) {
    const auto changed = problem_from_text(options_.problem, problem);
    understood_ |= changed.has_value();
    if (!changed) wrong_problem_ = changed.error();
    return changed && *changed == problem;
  }

  const ResultsOptions& options_;
  std::optional<double> since_;
  std::vector<WantedKnob> knobs_;
  std::vector<WantedOption> compile_options_;
  store::ProblemFilter of_problem_{[this](const Problem& problem) { return has_sizes(problem); }};
  bool understood_ = false;
  std::optional<Failure> wrong_problem_;
};

void say_trouble(store::Results& results) {
  if (const auto trouble = results.take_trouble())
    print_note(fmt::format("attnscope results: {}. {}", trouble->message, trouble->hint));
}

void say_unread(store::Results& results, int64_t rows) {
  say_trouble(results);
  if (rows > 0)
    print_note(fmt::format("attnscope results: {} could not be read: damaged, or of a newer version", rows));
}

int list(store::Results& results, const ResultsOptions& options) {
  Filter filter(options);
  if (auto options_read = filter.read_options(); !options_read) return report(options_read.error());
  const auto rows = results.find([&](const ResultKey& key) { return filter.wants(key); },
                                 options.fastest ? ResultOrder::fastest : ResultOrder::newest);
  say_trouble(results);
  if (!rows) return report(rows.error());
  if (rows->empty())
    if (const auto wrong = filter.misunderstood()) return report(*wrong);
  const auto found = static_cast<int64_t>(rows->size());
  const bool as_text = !options.csv && !options.json;
  const int64_t limit = options.limit.value_or(as_text ? kListed : 0);
  const std::span<const int64_t> shown(rows->data(), static_cast<size_t>(limit > 0 ? std::min(limit, found) : found));
  if (options.csv) print_result(csv_head());
  const auto unreadable = results.read(shown, [&](const store::StoredObservation& stored) {
    print_result(options.csv ? csv_line(stored) : options.json ? json_line(stored) : line_of(stored));
  });
  say_unread(results, unreadable.value_or(0));
  if (!unreadable) return report(unreadable.error());
  if (as_text && found == 0) print_result("No stored result matches.");
  if (std::ssize(shown) < found)
    print_note(fmt::format("{} of {} results; --limit 0 lists all", std::ssize(shown), found));
  return kCorrectOrUnchecked;
}

// Leaderboards per problem and device, of the rows that match the filter.
int rank(store::Results& results, const ResultsOptions& options) {
  auto places = find_places();
  if (!places) return report(places.error());
  auto folders = kernel_dirs(options.kernel_dirs);
  if (!folders) return report(folders.error());
  const std::vector<Kernel> kernels = catalog::load_catalog(*folders).kernels;
  const std::vector<DeviceSpec> devices = emulated_devices(*places).devices;
  Filter filter(options);
  if (auto options_read = filter.read_options(); !options_read) return report(options_read.error());
  const auto rows = results.find([&](const ResultKey& key) { return filter.wants(key); }, ResultOrder::newest);
  say_trouble(results);
  if (!rows) return report(rows.error());
  if (rows->empty())
    if (const auto wrong = filter.misunderstood()) return report(*wrong);
  std::vector<charts::DatedRun> runs;
  const auto unreadable = results.read(*rows, [&](store::StoredObservation stored) {
    runs.push_back({std::make_shared<const Observation>(std::move(stored.observation)), stored.finished_at});
  });
  say_unread(results, unreadable.value_or(0));
  if (!unreadable) return report(unreadable.error());
  // A GPU has the limits and rates of the emulated device with its name.
  const auto spec_of = [&](const Observation& run) -> std::optional<DeviceSpec> {
    DeviceSpec gpu;
    gpu.name = run.versions.gpu;
    const auto found = sweep::emulated_twin(gpu, gpu.name.empty() ? run.device : "", devices);
    return found ? std::optional(*found) : std::nullopt;
  };
  const int64_t most = options.limit.value_or(options.json && !options.pairs ? 0 : kListed);
  const auto boards = charts::leaderboards(std::move(runs), spec_of, static_cast<size_t>(most));
  if (options.json) {
    Json json = Json::array();
    for (const charts::Leaderboard& board : boards)
      json.push_back(to_json(board, kernels, options.kernel_dirs, options.pairs));
    print_result(json_text(json, 2));
  } else {
    for (const charts::Leaderboard& board : boards)
      print_result(text_of(board, kernels, options.kernel_dirs, options.pairs));
    if (boards.empty()) print_result("No stored result matches.");
  }
  return kCorrectOrUnchecked;
}

int merge(store::Results& results, const ResultsOptions& options) {
  const auto merged = results.merge(options.merge);
  say_trouble(results);
  if (!merged) return report(merged.error());
  const auto more = [](int64_t count, const char* words) {
    return count > 0 ? fmt::format(", {} {}", count, words) : std::string();
  };
  const auto one = [](int64_t count, const char* of_one, const char* of_more) { return count == 1 ? of_one : of_more; };
  print_result(fmt::format("{}: {} {} added, {} {} here already{}{}", options.merge, merged->added,
                           one(merged->added, "result", "results"), merged->known, one(merged->known, "was", "were"),
                           more(merged->unreadable, one(merged->unreadable, "is damaged", "are damaged")),
                           more(merged->notes, one(merged->notes, "star or note taken", "stars and notes taken"))));
  return kCorrectOrUnchecked;
}

int results(const ResultsOptions& options) {
  auto places = find_places();
  if (!places) return report(places.error());
  fs::path file = options.store.empty() ? places->user.data / "results.sqlite" : fs::path(options.store);
  std::error_code none;
  const bool there = fs::exists(file, none);
  if (!options.store.empty() && (there || options.merge.empty()))
    if (auto is_one = store::Results::check(file); !is_one) return report(is_one.error());
  std::shared_ptr<const platform::TemporaryFolder> empty;
  if (options.merge.empty() && !there) {
    print_note("No result is stored yet: the window, sweep, best and micro store what they run.");
    auto made = platform::TemporaryFolder::make();  // an empty store answers in the form that is asked for
    if (!made) return report(made.error());
    empty = std::move(*made);
    file = empty->path() / file.filename();
  }
  auto opened = store::Results::open(file);
  if (!opened) return report(opened.error());
  if (!options.merge.empty()) return merge(**opened, options);
  return options.leaderboard ? rank(**opened, options) : list(**opened, options);
}

}  // namespace

void add_results(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("results", "List, filter, export and merge stored results");
  auto options = std::make_shared<ResultsOptions>();
  command->add_option("--kernel", options->kernels, "Only of this kernel (may be repeated)")->type_name("ID");
  command->add_option("--set", options->settings, "Only with this value of a knob (may be repeated)")
      ->type_name("KNOB=VALUE");
  command
      ->add_option("--option", options->compile_options, "Only with this value of a compile option (may be repeated)")
      ->type_name("NAME=VALUE");
  command->add_option("--problem", options->problem, "With these sizes: S=512,causal=none")->type_name("SIZES");
  command->add_option("--device", options->device, "Only on this device, or a GPU of this name")->type_name("DEVICE");
  CLI::Option* verdict =
      command->add_option("--verdict", options->verdict, "correct, agrees (with another kernel), wrong or unchecked")
          ->type_name("WORD");
  command->add_option("--since", options->since, "Only what ended on this day or later (UTC)")->type_name("YYYY-MM-DD");
  CLI::Option* fastest = command->add_flag("--fastest", options->fastest, "The fastest first; without it, the newest");
  command
      ->add_option("--limit", options->limit,
                   "List at most this many; 0: all. By default 20 in the terminal and with --pairs")
      ->type_name("N")
      ->check(zero_or_more());
  CLI::Option* csv = command->add_flag("--csv", options->csv, "As CSV");
  CLI::Option* leaderboard =
      command->add_flag("--leaderboard", options->leaderboard,
                        "Rank the correct ones per problem and device, with ties, records over time and commands");
  leaderboard->excludes(csv)->excludes(verdict)->excludes(fastest);
  command
      ->add_flag("--pairs", options->pairs,
                 "With --leaderboard: which rows each row beats, and by how much, with the interval")
      ->needs(leaderboard);
  add_kernels_option(*command, options->kernel_dirs);
  command->add_flag("--json", options->json, "As lines of JSON: when it ended, and the observation")->excludes(csv);
  command->add_option("--store", options->store, "Read this results.sqlite; by default the program's own")
      ->type_name("FILE");
  command->add_option("--merge", options->merge, "Add the results of another results.sqlite")->type_name("FILE");
  command->callback([options, &chosen] { chosen = [options] { return results(*options); }; });
}

}  // namespace attnscope::cli
