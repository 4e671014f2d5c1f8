#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "core/escape.h"
#include "core/json.h"
#include "store/preset.h"

namespace attnscope::cli {
namespace {

int list_presets(bool as_json) {
  auto dirs = preset_dirs();
  if (!dirs) return report(dirs.error());
  std::vector<Failure> faults;
  Json list = Json::array();
  std::string text;
  for (const auto& dir : *dirs) {
    for (const store::PresetFile& preset :
         store::list_presets(dir, dir == dirs->front() ? "Shipped" : "Yours", faults)) {
      list.push_back({{"path", preset.path.string()}, {"title", preset.title}, {"group", preset.group}});
      text += fmt::format("{:<10} {:<34} {}\n", one_line(preset.group), one_line(preset.title),
                          one_line(preset.path.string()));
    }
  }
  print_result(as_json ? json_text(list, 2) : text);
  int status = kCorrectOrUnchecked;
  for (const Failure& fault : faults) status = report(fault);
  return status;
}

}  // namespace

void add_presets(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("presets", "List the presets");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "As JSON");
  command->callback([as_json, &chosen] { chosen = [as_json] { return list_presets(*as_json); }; });
}

}  // namespace attnscope::cli
