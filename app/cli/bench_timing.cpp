#include "cli/bench_timing.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <map>

#include "catalog/catalog.h"
#include "charts/format.h"
#include "cli/command.h"
#include "cli/device_wait.h"
#include "cli/exit_status.h"
#include "cli/number_checks.h"
#include "cli/places.h"
#include "cli/status_line.h"
#include "core/device_id.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "platform/clock.h"
#include "platform/json_file.h"

namespace attnscope::cli {
namespace {

constexpr uint64_t kMaxSaved = 64 << 20;  // of a saved state
constexpr int kLaunchMs = 10000;          // per launch; the first rungs take seconds where a peer takes a millisecond

std::string date_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

// On a terminal, one line that is overwritten; in a log, one line per row.
class ProgressLine {
 public:
  ProgressLine(const report::BenchPlan& plan, const std::string& command) : plan_(plan), command_(command) {}
  ~ProgressLine() {
    if (terminal_) print_over("");
  }
  void show(const report::BenchProgress& progress) {
    const report::Row& row = plan_.head.rows[progress.row];
    std::string text =
        fmt::format("{} of {}  {}, {}: {}", progress.done + 1, progress.total, report::problem_text(row.problem),
                    to_string(row.cache), plan_.head.entries[progress.entry].label);
    if (progress.left_seconds) text += ", " + charts::left_text(*progress.left_seconds);
    if (terminal_)
      print_over(text, {static_cast<size_t>(progress.done), static_cast<size_t>(progress.total)});
    else if (last_row_ != progress.row)
      print_note("attnscope " + command_ + ": " + text);
    last_row_ = progress.row;
  }

 private:
  const report::BenchPlan& plan_;
  const std::string& command_;
  const bool terminal_ = StatusLine::is_shown();
  std::optional<size_t> last_row_;
};

// The saved measurements of an interrupted run of the same plan.
report::BenchState state_at(const std::filesystem::path& file, const report::BenchPlan& plan,
                            const BenchTiming& timing) {
  std::error_code none;
  if (timing.fresh || !std::filesystem::exists(file, none)) return {};
  auto json = platform::read_json(file, kMaxSaved, Stage::input);
  auto state = json ? report::state_from_json(*json, plan, file.string()) : fail(json.error());
  if (!state) {
    report(state.error());
    return {};
  }
  int64_t passes = 0;
  for (const int64_t of_row : state->passes) passes += of_row;
  print_note(fmt::format("attnscope {}: continues after {} passes ({}); --fresh starts over", timing.command, passes,
                         file.string()));
  return *state;
}

// A library's worker reports its version in its greeting; without a greeting there is none.
void add_versions(session::Session& session, report::BenchReport& report) {
  const auto snapshot = session.snapshot();
  for (report::Entry& entry : report.entries)
    for (size_t i = 1; i < snapshot->workers.size(); ++i)
      if (DeviceId(entry.device).worker == snapshot->workers[i].name && DeviceId(report.device).is_own())
        entry.version = snapshot->workers[i].versions.driver;
}

}  // namespace

void add_timing_options(CLI::App& command, BenchTiming& timing) {
  BenchWishes& wishes = timing.wishes;
  command.add_option("--device", timing.device, "Where to run; else the first GPU, else the default emulated device")
      ->type_name("DEVICE");
  add_kernels_option(command, timing.kernel_dirs);
  add_worker_options(command, timing.workers);
  command
      .add_option_function<std::string>(
          "--cache", [&wishes](const std::string& word) { wishes.caches = *parse_word<BenchCaches>(word); },
          "hot, cold or both")
      ->check(CLI::IsMember({"hot", "cold", "both"}));
  command
      .add_option("--tuned", timing.tuned_dirs,
                  "Also the tuned tables of this folder, as `attnscope best --tune` writes them")
      ->type_name("DIR");
  command.add_flag("--defaults", wishes.defaults, "The manifests' default configs instead of the tuned ones");
  command.add_flag("--quick", wishes.quick, "Fewer and shorter passes: wider intervals");
  command.add_flag("--fresh", timing.fresh, "Start over instead of continuing an interrupted run");
  command
      .add_option("--within", timing.within,
                  "End after this time with the results so far; the same command then continues")
      ->type_name("SECONDS")
      ->check(above_zero());
}

Result<TimedBench> time_bench(const BenchTiming& options) {
  const auto places = find_places();
  if (!places) return fail(places.error());
  auto dirs = kernel_dirs(options.kernel_dirs);
  if (!dirs) return fail(dirs.error());
  const catalog::Catalog catalog = catalog::load_catalog(*dirs);
  auto tuned = report::load_tuned(places->resources / "assets" / "tuned");
  if (!tuned) return fail(tuned.error());
  std::vector<std::string> dirs_of_tables;
  std::error_code none;
  if (const auto own = own_tables_of(*places); std::filesystem::exists(own, none))
    dirs_of_tables.push_back(own.string());
  dirs_of_tables.insert(dirs_of_tables.end(), options.tuned_dirs.begin(), options.tuned_dirs.end());
  for (const std::string& dir : dirs_of_tables) {
    auto more = report::load_tuned(dir);
    if (!more) return fail(more.error());
    tuned->insert(tuned->end(), more->begin(), more->end());
  }
  std::string device = options.device;
  auto session_opts = options_with_workers(options.kernel_dirs, options.workers, device);
  if (!session_opts) return fail(session_opts.error());
  // This machine's library says nothing about a GPU elsewhere; for that one the worker is named explicitly, "torch=ssh
  // box …".
  if (is_local(device)) add_library_workers(*session_opts, catalog.kernels);
  session_opts->deadlines.launch_ms = kLaunchMs;
  auto waiting = WaitingSession::start(std::move(*session_opts));
  if (!waiting) return fail(waiting.error());
  auto found = (*waiting)->wait_for(device);
  if (!found) return fail(found.error());
  if (!found->device.emulated) found->versions.gpu = found->device.name;
  auto tasks = plan_bench(options.wishes, catalog.kernels, *tuned, found->device, found->versions);
  if (!tasks) return fail(tasks.error());

  session::Session& session = (*waiting)->session();
  const auto file = places->user.data / "bench" / (report::plan_hash(tasks->plan) + ".json");
  report::BenchState state = state_at(file, tasks->plan, options);
  bool can_save = true, whole = false;
  std::map<size_t, std::string> cublas_versions;  // by entry, from its runs
  {
    ProgressLine line(tasks->plan, options.command);
    report::BenchCalls calls;
    calls.run = [&](size_t row, size_t entry) {
      Observation seen = session.queue(tasks->drafts[row][entry]).get();
      if (!seen.versions.cublas.empty()) cublas_versions[entry] = "cuBLAS " + seen.versions.cublas;
      return seen;
    };
    calls.save = [&](const report::BenchState& now) {
      if (!can_save) return;
      auto saved = platform::write_file(file, json_text(report::to_json(now)));
      can_save = saved.has_value();
      if (!saved) report(saved.error());  // reported once; the benchmark itself continues
    };
    calls.on_progress = [&](const report::BenchProgress& progress) { line.show(progress); };
    calls.now_seconds = [] { return platform::steady_ms() / 1000; };
    calls.config_text = [&](size_t entry, const Config& config) {
      const Kernel& kernel = tasks->kernels[entry];
      return short_text(config, kernel, kernel.options);
    };
    if (options.within > 0)
      calls.enough = [end = calls.now_seconds() + options.within, now = calls.now_seconds] { return now() >= end; };
    whole = report::run_bench(tasks->plan, calls, state);
  }
  TimedBench timed{report::report_of(tasks->plan, state, date_now()), std::move(state), std::move(tasks->kernels), {}};
  add_versions(session, timed.report);
  for (const auto& [entry, version] : cublas_versions) timed.report.entries[entry].version = version;
  if (whole)
    timed.state_file = file;
  else
    print_note(fmt::format("attnscope {}: ended after {:.0f} s; the same command continues from there", options.command,
                           options.within));
  return timed;
}

}  // namespace attnscope::cli
