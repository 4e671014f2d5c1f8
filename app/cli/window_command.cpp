#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/places.h"
#include "cli/worker_options.h"
#include "platform/termination.h"
#include "worker/purpose.h"
#ifdef ATTNSCOPE_HAS_UI
#include "ui/app.h"
#endif

namespace attnscope::cli {
namespace {

#ifdef ATTNSCOPE_HAS_UI
int open_window(const std::string& preset, const WorkerOptions& workers) {
  if (!preset.empty()) {
    // A preset named on the command line is refused there; one opened later is refused in the window.
    ExperimentOptions named;
    named.preset = preset;
    if (auto draft = draft_of(named); !draft) return report(draft.error());
  }
  if (auto display = ui::connect_display(); !display) return report(display.error());
  auto places = find_places();
  if (!places) return report(places.error());
  auto options = session_options({}, true);
  if (!options) return report(options.error());
  if (auto added = add_workers(*options, workers, Named::all, options->first_device); !added)
    return report(added.error());
  options->watch_configs = true;
  auto session = session::Session::start(*options, [] { ui::wake(); });
  if (!session) return report(session.error());
  if (!preset.empty()) (*session)->load_preset(preset);
  ui::WindowOptions window;
  window.resources = places->resources;
  window.user_presets = options->preset_dirs.back();
  window.own_lessons = own_lessons_of(*places);
  window.results = places->user.data / "results.sqlite";
  window.profiling = *options;
  const std::vector<std::string> others = add_worker_flag(window.profiling->workers, worker::kProfileFlag);
  std::erase_if(window.profiling->workers,
                [&](const session::WorkerCommand& one) { return std::ranges::count(others, one.name) > 0; });
  window.profiler = [](session::WorkerCommand worker) -> std::optional<session::WorkerCommand> {
    std::vector<session::WorkerCommand> one{std::move(worker)};
    if (!add_worker_flag(one, worker::kProfileFlag).empty()) return std::nullopt;
    return one.front();
  };
  const platform::OnTermination ended([] { ui::request_close(); });  // after pending data is written
  const int status = ui::run_window(**session, window);
  (*session)->stop();
  return status;
}
#else
int open_window(const std::string&, const WorkerOptions&) {
  return report({Stage::device, "this attnscope was built without its window",
                 "Use `attnscope run`, or build with ATTNSCOPE_UI=ON."});
}
#endif

}  // namespace

void add_window(CLI::App& app, Chosen& chosen) {
  auto preset = std::make_shared<std::string>();
  app.add_option("preset", *preset, "Open the window with this preset")->type_name("FILE.json");
  auto workers = std::make_shared<WorkerOptions>();
  add_worker_options(app, *workers);
  chosen = [&app, preset, workers] {
    if (auto known = check_file_or_command(app, *preset); !known) return report(known.error());
    return open_window(*preset, *workers);
  };
}

}  // namespace attnscope::cli
