#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <random>
#include <set>

#include "catalog/catalog.h"
#include "catalog/choices.h"
#include "catalog/validate.h"
#include "cli/bench_plan.h"
#include "cli/command.h"
#include "cli/device_wait.h"
#include "cli/exit_status.h"
#include "cli/number_checks.h"
#include "cli/places.h"
#include "cli/validate_again.h"
#include "cli/worker_options.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/near.h"
#include "platform/clock.h"
#include "platform/output_file.h"
#include "report/validation.h"
#include "sweep/twin.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kWithin = 540, kQuickWithin = 150;  // seconds
constexpr size_t kConfigs = 4, kQuickConfigs = 2;    // of a kernel for a problem
constexpr int kTries = 200;                          // attempts to draw one that may run
constexpr int kLaunchMs = 10000;
constexpr int kVisits = 3;  // of a problem, while time is left
// Short and long, both head sizes, with and without a mask, ragged, and a grid of many waves.
constexpr const char* kProblems[] = {"B=1,H=8,S=512,D=64,causal=none",   "B=4,H=8,S=1024,D=128,causal=top_left",
                                     "B=8,H=8,S=1024,D=64,causal=none",  "B=1,H=8,S=128,D=64,causal=none",
                                     "B=1,H=32,S=777,D=64,causal=none",  "B=1,H=8,S=2048,D=64,causal=top_left",
                                     "B=1,H=4,S=4096,D=128,causal=none", "B=2,H=8,S=1536,D=64,causal=none"};

struct ValidateOptions {
  std::string out, report, device, model, again;
  std::vector<std::string> kernel_dirs;
  WorkerOptions workers;
  bool quick = false;
  double within = 0;
};

using Knobs = std::map<std::string, int64_t>;

// The defaults, and configs drawn at random from those that may fit. The same for every GPU.
std::vector<Knobs> configs_of(const Kernel& kernel, const Problem& problem, const DeviceSpec& spec, size_t count,
                              std::mt19937_64& random) {
  std::set<Knobs> drawn;
  std::vector<Knobs> configs;
  const auto add = [&](const Knobs& knobs) {
    const auto config = catalog::complete_config(kernel, knobs, {});
    if (!config || !drawn.insert(config->knobs).second) return;
    if (catalog::foretell_limits(kernel, problem, *config, spec)) configs.push_back(config->knobs);
  };
  add({});
  for (int i = 0; i < kTries && configs.size() < count; ++i) {
    Knobs knobs;
    for (const Knob& knob : kernel.knobs) knobs[knob.name] = knob.values[random() % knob.values.size()].value;
    add(knobs);
  }
  return configs;
}

std::string entry_text(const Kernel& kernel, const Knobs& knobs) {
  std::string text = kernel.id;
  for (const auto& [name, value] : knobs) text += fmt::format("{}{}={}", text == kernel.id ? ":" : ",", name, value);
  return text;
}

// A problem and the configs that still have no time, as `bench --kernel` names them.
struct Wanted {
  std::string problem;
  std::vector<std::string> entries;
};

// Times and models configs.
class Validator {
 public:
  Validator(session::Session& session, const WaitingSession::Found& gpu, const DeviceSpec& model,
            const std::vector<Kernel>& kernels)
      : session_(session), gpu_(gpu), model_(model), kernels_(kernels) {}

  // Draws the configs of every problem, `count` for each kernel.
  Result<std::vector<Wanted>> draw(size_t count) const {
    std::mt19937_64 random;  // its default seed
    std::vector<Wanted> all;
    for (const char* text : kProblems) {
      auto problem = problem_from_text(text);
      if (!problem) return fail(problem.error());
      Wanted& wanted = all.emplace_back(text);
      for (const Kernel& kernel : kernels_)
        if (kernel.library.is_source() && kernel.problem == ProblemKind::attention)
          for (const Knobs& knobs : configs_of(kernel, *problem, gpu_.device, count, random))
            wanted.entries.push_back(entry_text(kernel, knobs));
    }
    return all;
  }

  // Stops at `end`. Configs that were not timed or modelled by then stay in `wanted`.
  Result<void> take(Wanted& wanted, double end, report::ValidationSet& set) {
    auto tasks = plan_of(wanted);
    if (!tasks) return fail(tasks.error());
    const std::vector<Draft>& drafts = tasks->drafts.front();
    report::BenchState state;
    report::BenchCalls calls;
    calls.run = [&](size_t, size_t entry) { return session_.queue(drafts[entry]).get(); };
    calls.save = [](const report::BenchState&) {};
    calls.on_progress = [](const report::BenchProgress&) {};
    calls.now_seconds = [] { return platform::steady_ms() / 1000; };
    calls.config_text = [&](size_t entry, const Config& config) { return short_text(config, tasks->kernels[entry]); };
    // Half of the time is for the model.
    const double begin = calls.now_seconds(), half = begin + (end - begin) / 2;
    calls.enough = [&] { return calls.now_seconds() >= half; };
    report::run_bench(tasks->plan, calls, state);
    const report::BenchReport timed = report::report_of(tasks->plan, state, "");
    std::vector<std::string> left;
    for (size_t i = 0; i < drafts.size(); ++i) {
      const report::Cell& cell = timed.rows.front().cells[i];
      const bool measured = cell.state == report::CellState::timed && cell.kind == FigureKind::measured;
      if (!state.taken.front()[i].first || (measured && calls.now_seconds() >= end))
        left.push_back(wanted.entries[i]);
      else if (measured)
        add(wanted.problem, drafts[i], cell, config_text(*tasks, i), set);
      else
        set.refused.push_back({wanted.problem, drafts[i].kernel, config_text(*tasks, i), cell.reason});
    }
    wanted.entries = std::move(left);
    return {};
  }

  // Adds to the set the configs for which there was no time.
  Result<report::ValidationSet> whole(report::ValidationSet set, const std::vector<Wanted>& all) const {
    for (const Wanted& wanted : all) {
      if (wanted.entries.empty()) continue;
      auto tasks = plan_of(wanted);
      if (!tasks) return fail(tasks.error());
      for (size_t i = 0; i < wanted.entries.size(); ++i)
        set.refused.push_back({wanted.problem, tasks->drafts.front()[i].kernel, config_text(*tasks, i),
                               "the time ended before it; --within gives more"});
    }
    return set;
  }

 private:
  Result<BenchTasks> plan_of(const Wanted& wanted) const {
    BenchWishes wishes;
    wishes.problems = {wanted.problem};
    wishes.without_peers = wishes.quick = true;
    wishes.kernels = wanted.entries;
    return plan_bench(wishes, kernels_, {}, gpu_.device, gpu_.versions);
  }

  static std::string config_text(const BenchTasks& tasks, size_t entry) {
    return short_text(tasks.drafts.front()[entry].config, tasks.kernels[entry]);
  }

  void add(const std::string& problem, Draft draft, const report::Cell& cell, const std::string& config,
           report::ValidationSet& set) {
    report::ValidationRow timed;
    timed.problem = problem;
    timed.config = config;
    timed.us = cell.p50;
    model_row(session_, std::move(draft), model_, std::move(timed), set);
  }

  session::Session& session_;
  const WaitingSession::Found& gpu_;
  const DeviceSpec& model_;
  const std::vector<Kernel>& kernels_;
};

Result<report::Validation> read_existing(const std::string& file) {
  std::error_code none;
  return fs::exists(file, none) ? read_validation(file) : report::Validation{};
}

Result<catalog::Catalog> catalog_of(const ValidateOptions& options) {
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return fail(dirs.error());
  return catalog::load_catalog(*dirs);
}

// Models the rows of a file again, without a GPU.
int validate_again(const ValidateOptions& options) {
  auto file = read_validation(options.again);
  if (!file) return report(file.error());
  const auto places = find_places();
  if (!places) return report(places.error());
  const auto catalog = catalog_of(options);
  if (!catalog) return report(catalog.error());
  const std::vector<DeviceSpec> known = emulated_devices(*places).devices;
  std::unique_ptr<WaitingSession> waiting;  // its worker has every emulated device
  std::string text;
  for (report::ValidationSet& set : file->sets) {
    DeviceSpec gpu;
    gpu.name = set.device;
    gpu.arch = set.arch;
    auto model = sweep::emulated_twin(gpu, set.model, known);
    if (!model) return report(model.error());
    if (!waiting) {
      std::string device = model->id;
      auto session_opts = options_with_workers(options.kernel_dirs, options.workers, device);
      if (!session_opts) return report(session_opts.error());
      auto started = WaitingSession::start(std::move(*session_opts));
      if (!started) return report(started.error());
      waiting = std::move(*started);
    }
    if (auto found = waiting->wait_for(model->id); !found) return report(found.error());
    const std::string nvrtc = set.nvrtc;
    const bool had_rows = !set.rows.empty();
    set = model_again(waiting->session(), *model, catalog->kernels, std::move(set));
    if (had_rows && set.rows.empty())  // a file without its times is worthless
      return report({Stage::input,
                     "this build compiles no config of " + options.again + " to the machine code that was timed",
                     "Set ATTNSCOPE_NVRTC to NVRTC " + nvrtc + "."});
    text += report::as_markdown(set);
  }
  if (auto put = platform::write_output(options.out, json_text(report::to_json(*file), 1) + "\n"); !put)
    return report(put.error());
  if (!options.report.empty())
    if (auto put = platform::write_output(options.report, text); !put) return report(put.error());
  print_result(text);
  return kCorrectOrUnchecked;
}

int validate(const ValidateOptions& options) {
  if (auto possible = platform::check_output(options.out); !possible) return report(possible.error());
  if (!options.again.empty()) return validate_again(options);
  auto file = read_existing(options.out);
  if (!file) return report(file.error());
  const auto places = find_places();
  if (!places) return report(places.error());
  const auto catalog = catalog_of(options);
  if (!catalog) return report(catalog.error());
  std::string device = options.device;
  auto session_opts = options_with_workers(options.kernel_dirs, options.workers, device);
  if (!session_opts) return report(session_opts.error());
  session_opts->deadlines.launch_ms = kLaunchMs;
  auto waiting = WaitingSession::start(std::move(*session_opts));
  if (!waiting) return report(waiting.error());
  auto gpu = (*waiting)->wait_for(device);
  if (!gpu) return report(gpu.error());
  if (gpu->device.emulated)
    return report({Stage::input, gpu->device.id + " is modelled itself: there is nothing to validate against",
                   "Run this on a machine with a GPU, or name its worker: --device cuda:0."});
  auto model = sweep::emulated_twin(gpu->device, options.model, emulated_devices(*places).devices);
  if (!model) return report(model.error());
  report::ValidationSet set{
      gpu->device.name, gpu->device.arch, model->id, "", gpu->versions.driver, "", "", "", {}, {}};
  set.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  set.how = "attnscope validate, hot; the defaults of each kernel and random configs";
  const double within = options.within > 0 ? options.within : options.quick ? kQuickWithin : kWithin;
  const double end = platform::steady_ms() / 1000 + within;
  Validator validator((*waiting)->session(), *gpu, *model, catalog->kernels);
  const std::string page =
      options.report.empty() ? fs::path(options.out).replace_extension(".md").string() : options.report;
  auto drawn = validator.draw(options.quick ? kQuickConfigs : kConfigs);
  if (!drawn) return report(drawn.error());
  if (std::ranges::all_of(*drawn, [](const Wanted& wanted) { return wanted.entries.empty(); }))
    return report({Stage::input, "no attention kernel has a config that fits " + gpu->device.id,
                   "`attnscope kernels` lists the kernels."});
  // After every problem, so that the file is complete if the run is interrupted.
  const auto write = [&]() -> Result<std::string> {
    auto whole = validator.whole(set, *drawn);
    if (!whole) return fail(whole.error());
    report::Validation all = *file;
    report::put_set(all, *whole);
    if (auto put = platform::write_output(options.out, json_text(report::to_json(all), 1) + "\n"); !put)
      return fail(put.error());
    const std::string text = report::as_markdown(*whole);
    if (auto put = platform::write_output(page, text); !put) return fail(put.error());
    return text;
  };
  std::string text;
  // A first visit may be too short to compile everything; the next one finds it compiled.
  for (int visit = 1; visit <= kVisits; ++visit) {
    for (size_t i = 0; i < drawn->size(); ++i) {
      Wanted& wanted = (*drawn)[i];
      const double now = platform::steady_ms() / 1000;
      if (wanted.entries.empty() || now >= end) continue;
      const auto waits = std::count_if(drawn->begin() + std::ptrdiff_t(i), drawn->end(),
                                       [](const Wanted& other) { return !other.entries.empty(); });
      print_note(fmt::format("attnscope validate: {} of {}  {}{}", i + 1, drawn->size(), wanted.problem,
                             visit > 1 ? ", again" : ""));
      if (auto taken = validator.take(wanted, now + (end - now) / double(waits), set); !taken)
        return report(taken.error());
      auto written = write();
      if (!written) return report(written.error());
      text = std::move(*written);
    }
  }
  print_result(text);
  return kCorrectOrUnchecked;
}

}  // namespace

void add_validate(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("validate", "Time configs of every kernel on a GPU and compare them with its model");
  auto options = std::make_shared<ValidateOptions>();
  command->add_option("--out", options->out, "The figures, as JSON; sets of other GPUs in this file stay")
      ->type_name("FILE.json")
      ->required();
  command->add_option("--report", options->report, "One page about them, as Markdown; else beside the figures")
      ->type_name("FILE.md");
  auto* device = command->add_option("--device", options->device, "The GPU; else the first")->type_name("DEVICE");
  auto* model = command->add_option("--model", options->model, "Compare with this emulated device; else the GPU's own")
                    ->type_name("DEVICE");
  add_kernels_option(*command, options->kernel_dirs);
  add_worker_options(*command, options->workers);
  auto* quick = command->add_flag("--quick", options->quick, "Fewer configs, in two and a half minutes");
  auto* within = command->add_option("--within", options->within, "End after this time; else nine minutes")
                     ->type_name("SECONDS")
                     ->check(above_zero());
  auto* again =
      command
          ->add_option("--again", options->again, "Time nothing; model the configs of this file again with this build")
          ->type_name("FILE.json");
  for (auto* other : {device, model, quick, within}) again->excludes(other);
  command->callback([options, &chosen] { chosen = [options] { return validate(*options); }; });
}

}  // namespace attnscope::cli
