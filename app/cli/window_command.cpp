#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#ifdef ATTNSCOPE_HAS_UI
#include "ui/app.h"
#endif

namespace attnscope::cli {
namespace {

#ifdef ATTNSCOPE_HAS_UI
int open_window(const std::string& preset) {
  auto options = session_options({}, true);
  if (!options) return report(options.error());
  ui::Waker waker;
  auto session = session::Session::start(*options, [&waker] { waker.wake(); });
  if (!session) return report(session.error());
  if (!preset.empty()) (*session)->load_preset(preset);
  auto ended = ui::run_window(**session, waker, {});
  (*session)->stop();
  if (!ended) return report(ended.error());
  return kCorrectOrUnchecked;
}
#else
int open_window(const std::string&) {
  return report({Stage::device, "this attnscope was built without its window", "Use `attnscope run`, or build with ATTNSCOPE_UI=ON."});
}
#endif

}  // namespace

void add_window(CLI::App& app, Chosen& chosen) {
  auto preset = std::make_shared<std::string>();
  app.add_option("preset", *preset, "Open the window with this preset")->type_name("FILE.json");
  chosen = [preset] { return open_window(*preset); };
}

}  // namespace attnscope::cli
