// The window's menu bar.
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "ui/icons.h"
#include "ui/widgets/text.h"
#include "ui/workbench.h"

namespace attnscope::ui {

void Workbench::draw_menu(Context& context) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(em(0.6f), em(0.42f)));
  const bool open = ImGui::BeginMainMenuBar();
  ImGui::PopStyleVar();
  if (!open) return;
  ImGui::PushFont(fonts().strong, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, palette().accent);
  text("attnscope");
  ImGui::PopStyleColor();
  ImGui::PopFont();
  ImGui::SameLine(0, em(1));
  const auto items = [this](std::initializer_list<const char*> ids) {
    for (const char* id : ids) {
      if (*id == '\0')
        ImGui::Separator();
      else
        actions_.menu_item(id, std::string_view(id) == "tries" && settings_.tries);
    }
  };
  const auto menu = [&items](const char* title, std::initializer_list<const char*> ids) {
    if (!ImGui::BeginMenu(title)) return;
    items(ids);
    ImGui::EndMenu();
  };
  menu("File", {"open", "save", "save as", "", "sessions", "close session", "find runs", "", "save picture",
                "save plot", "save runs", "save run", "copy line", "", "reload", "", "quit"});
  menu("Edit", {"undo", "redo", "", "reset knobs", "reset problem", "", "edit source", "leave source"});
  menu("Run", {"rerun", "cancel", "watch", "tries", "", "why", "compare", "pin", "unpin", "", "live", "close", "",
               "best", "bench", "export", "import", "", "workers"});
  draw_presets_menu(context);
  if (ImGui::BeginMenu("View")) {
    for (const auto& panel : panels_) {
      const bool shown = !settings_.closed.contains(panel->title());
      if (!ImGui::MenuItem(panel->title(), nullptr, shown)) continue;
      if (shown)
        settings_.closed.insert(panel->title());
      else
        open_panel(panel->title());
    }
    ImGui::Separator();
    actions_.menu_item("axis auto", view_.latency_axis == charts::AxisChoice::automatic);
    actions_.menu_item("axis linear", view_.latency_axis == charts::AxisChoice::linear);
    actions_.menu_item("axis log", view_.latency_axis == charts::AxisChoice::logarithmic);
    ImGui::Separator();
    actions_.menu_item("theme");
    actions_.menu_item("contrast", is_contrast(settings_.theme));
    items({"zoom in", "zoom out", "zoom reset", "", "present", "", "tall", "reset layout", "layout narrow",
           "layout small", "layout usual", "layout large"});
    ImGui::EndMenu();
  }
  menu("Help", {"lessons", "", "palette", "shortcuts", "glossary", "", "found", "about"});
  const std::string hint = chord_text(actions_.find("palette")->chord) + "  " ICON_SEARCH;
  const float theme_width = em(2.2f), room = ImGui::GetContentRegionAvail().x;
  if (room > width_of(hint) + theme_width + em(2)) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width_of(hint) - theme_width - em(1.5f));
    ImGui::PushStyleColor(ImGuiCol_Text, palette().faint);
    if (ImGui::MenuItem(hint.c_str())) open_palette();
    ImGui::PopStyleColor();
    const bool dark = is_dark(settings_.theme);
    if (ImGui::MenuItem(dark ? ICON_SUN "##theme" : ICON_MOON "##theme")) actions_.find("theme")->run();
    tooltip(dark ? "Light theme" : "Dark theme");
  }
  ImGui::EndMainMenuBar();
}

// Presets that were opened or saved last, without those that no longer exist; the files are checked when the menu
// opens.
void Workbench::draw_recent_menu(const session::Snapshot& snapshot) {
  const auto recent = snapshot.settings->find(session::kRecentPresets);
  const bool any = recent != snapshot.settings->end() && recent->is_array() && !recent->empty();
  if (!ImGui::BeginMenu("Recent", any)) return;
  if (ImGui::IsWindowAppearing()) {
    recent_.clear();
    for (const Json& one : *recent) {
      std::error_code error;
      const std::filesystem::path path = one.is_string() ? one.get<std::string>() : std::string();
      if (!std::filesystem::is_regular_file(path, error)) continue;
      std::string name = path.stem().string();
      for (size_t at = 0; snapshot.presets && at < snapshot.presets->size(); ++at)
        if ((*snapshot.presets)[at].path == path.string()) name = (*snapshot.presets)[at].name;
      recent_.emplace_back(std::move(name), path);
    }
  }
  for (const auto& [name, path] : recent_) {
    ImGui::PushID(path.c_str());
    if (ImGui::MenuItem(name.c_str())) session_.load_preset(path);
    ImGui::PopID();
    tooltip(path.string());
  }
  if (recent_.empty()) ImGui::MenuItem("None of them exists any more", nullptr, false, false);
  ImGui::EndMenu();
}

void Workbench::draw_presets_menu(Context& context) {
  const session::Snapshot& snapshot = context.snapshot;
  if (!ImGui::BeginMenu("Presets")) return;
  std::string group;
  bool any = false;
  if (snapshot.presets)
    for (const session::PresetItem& preset : *snapshot.presets) {
      if (preset.group != group) {
        group = preset.group;
        ImGui::PushFont(fonts().strong, kSmallSize);
        ImGui::SeparatorText(group.c_str());
        ImGui::PopFont();
      }
      any = true;
      ImGui::PushID(preset.path.c_str());
      if (ImGui::MenuItem(preset.name.c_str(), nullptr, preset.path == snapshot.preset_path))
        session_.load_preset(preset.path);
      ImGui::PopID();
      tooltip(preset.note.empty() ? preset.path : preset.note + "\n\n" + preset.path);
    }
  if (!any) ImGui::MenuItem("No preset was found", nullptr, false, false);
  ImGui::Separator();
  draw_recent_menu(snapshot);
  for (const char* id : {"open", "save", "save as", "presets"}) actions_.menu_item(id);
  ImGui::EndMenu();
}

}  // namespace attnscope::ui
