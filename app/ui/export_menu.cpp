#include "ui/export_menu.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <nlohmann/json.hpp>

#include "core/escape.h"
#include "ui/command_lines.h"
#include "ui/preset_dialogs.h"
#include "ui/widgets/clipboard.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

// The title of the panel in which the current menu was opened.
std::string panel_of_menu() {
  const ImGuiWindow* window = ImGui::GetCurrentWindow();
  while ((window->Flags & ImGuiWindowFlags_Popup) != 0 && window->ParentWindowInBeginStack != nullptr)
    window = window->ParentWindowInBeginStack;
  return window->RootWindow->Name;
}

}  // namespace

std::string json_of(const Observation& run) { return json_text(to_json(run), 1) + "\n"; }

charts::Sheet sheet_of(const session::History& history) {
  charts::Sheet sheet;
  sheet.columns = charts::run_columns();
  for (size_t at = 0; at < history.size; ++at)
    if (const auto& entry = history.at(at); entry.observation)
      sheet.rows.push_back(charts::run_cells(*entry.observation, entry.finished_at));
  return sheet;
}

RunLine run_line(const session::Snapshot& snapshot, const Observation& run) {
  const Kernel* kernel = session::find_kernel(snapshot, run.experiment.kernel);
  const CommandLine line = command_line(CommandKind::run, run.experiment, kernel, "", "",
                                        session::worker_of(snapshot, run.experiment.device));
  return {line.refusal.empty() ? "attnscope " + shell_text(line.arguments) : "", line.refusal};
}

void run_items(Context& context, const Observation& run) {
  if (ImGui::MenuItem("Save the run as JSON\u2026"))
    context.save("run-" + file_name_of(run.experiment.kernel) + ".json", json_of(run));
  if (ImGui::MenuItem("Copy the run as JSON")) copy(json_of(run));
  const RunLine line = run_line(context.snapshot, run);
  if (ImGui::MenuItem("Copy as command line", nullptr, false, line.refusal.empty())) copy(line.words);
  tooltip(line.refusal);
}

void export_items(Context& context, const Leaving& leaving) {
  const auto sheet = [&] { return leaving.sheet ? leaving.sheet() : leaving.figure().sheet; };
  if (leaving.figure && ImGui::MenuItem("Save the plot as SVG\u2026"))
    context.save(leaving.name + ".svg", charts::svg_of(leaving.figure()));
  if (ImGui::MenuItem("Save a picture as PNG\u2026")) context.save_picture(panel_of_menu(), leaving.name);
  if (!leaving.figure && !leaving.sheet) return;
  if (ImGui::MenuItem("Save the figures as CSV\u2026")) context.save(leaving.name + ".csv", charts::csv_of(sheet()));
  if (ImGui::MenuItem("Save the figures as JSON\u2026")) context.save(leaving.name + ".json", charts::json_of(sheet()));
  if (ImGui::MenuItem("Copy the figures as CSV")) copy(charts::csv_of(sheet()));
}

void export_menu(Context& context, const Leaving& leaving) {
  // A plot keeps the click until it ends, so a window that an item blocks counts too.
  constexpr ImGuiHoveredFlags kAnyhow =
      ImGuiHoveredFlags_AllowWhenBlockedByPopup | ImGuiHoveredFlags_AllowWhenBlockedByActiveItem;
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Right) && ImGui::IsWindowHovered(kAnyhow)) ImGui::OpenPopup("export");
  if (!ImGui::BeginPopup("export")) return;
  export_items(context, leaving);
  if (context.shown.observation) {
    ImGui::Separator();
    run_items(context, *context.shown.observation);
  }
  ImGui::EndPopup();
}

}  // namespace attnscope::ui
