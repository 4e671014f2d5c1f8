#include "ui/workbench.h"

#include <fmt/format.h>
#include <imgui-command-palette/imcmd_command_palette.h>
#include <imgui_internal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catalog/reported.h"
#include "platform/clock.h"
#include "ui/icons.h"
#include "ui/panels/counters_panel.h"
#include "ui/panels/error_panel.h"
#include "ui/panels/experiment_panel.h"
#include "ui/panels/history_panel.h"
#include "ui/panels/latency_panel.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/memory_panel.h"
#include "ui/status_bar.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

constexpr int kLayoutVersion = 1;        // raised when the default layout changes: older kept layouts are put aside
constexpr int kFramesToDock = 4;         // until a panel that is docked anew is a tab that can be chosen
constexpr double kKeepAfterSeconds = 2;  // settings are handed over this long after their last change

}  // namespace

Workbench::Workbench(session::Session& session, WorkbenchOptions options)
    : session_(session), options_(std::move(options)), snapshot_(session.snapshot()), dialogs_(options_.user_presets) {
  load_assets();
  auto experiment = std::make_unique<ExperimentPanel>();
  experiment_panel_ = experiment.get();
  panels_.push_back(std::move(experiment));
  panels_.push_back(std::make_unique<LatencyPanel>());
  panels_.push_back(std::make_unique<MemoryPanel>());
  auto error = std::make_unique<ErrorPanel>(options_.resources / "shaders");
  error_panel_ = error.get();
  panels_.push_back(std::move(error));
  panels_.push_back(std::make_unique<HistoryPanel>());
  panels_.push_back(std::make_unique<CountersPanel>());
  panels_.push_back(std::make_unique<LogPanel>());
  pixels_ = {"pipe",
             "Maps come through the worker's pipe at the panel's resolution: the device is emulated on the CPU, so "
             "there is no "
             "GPU memory to share."};
  palette_ = ImCmd::CreateContext();
  add_actions();
  add_palette_commands();
  apply_theme(settings_.theme);
}

Workbench::~Workbench() { ImCmd::DestroyContext(palette_); }

void Workbench::load_assets() {
  const std::filesystem::path assets = options_.resources / "assets";
  if (Result<Glossary> glossary = Glossary::load(assets / "glossary.md"))
    glossary_ = std::move(*glossary);
  else
    session_.note(session::LogLevel::warning, glossary.error().message);
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(assets / "reported", unreadable)) {
    if (entry.path().extension() != ".json") continue;
    const auto figures = catalog::load_reported(entry.path());
    if (!figures) {
      session_.note(session::LogLevel::warning, figures.error().message);
      continue;
    }
    for (const catalog::ReportedFigure& figure : *figures) {
      if (figure.metric != "latency" || figure.unit != "us") continue;
      reported_.push_back({{figure.value, figure.label, figure.source, figure.valid ? "" : figure.why, false},
                           figure.role == catalog::ReportedRole::target,
                           figure.kernel,
                           figure.knobs,
                           figure.problem,
                           figure.device});
    }
  }
}

void Workbench::adopt_settings(const session::Snapshot& snapshot) {
  if (adopted_ || snapshot.version == 0 || !snapshot.settings) return;
  adopted_ = true;
  const auto kept = snapshot.settings->find(kSettingsKey);
  if (kept != snapshot.settings->end()) {
    const WindowSettings changed = settings_;
    settings_ = window_settings_from_json(*kept);
    if (changed.theme != WindowSettings{}.theme) settings_.theme = changed.theme;  // asked for on the command line
    if (changed.zoom != WindowSettings{}.zoom) settings_.zoom = changed.zoom;
  }
  if (settings_.layout_version != kLayoutVersion) settings_.layout.clear();
  if (settings_.layout.empty())
    reset_wanted_ = true;
  else
    ImGui::LoadIniSettingsFromMemory(settings_.layout.data(), settings_.layout.size());
  settings_.layout_version = kLayoutVersion;
  kept_settings_ = settings_;
}

void Workbench::before_frame() {
  snapshot_ = session_.snapshot();
  adopt_settings(*snapshot_);
  if (theme_mode() != settings_.theme) set_theme(settings_.theme);
  ImGui::GetStyle().FontScaleMain = settings_.zoom;
}

void Workbench::set_theme(ThemeMode mode) {
  settings_.theme = mode;
  const float dpi = ImGui::GetStyle().FontScaleDpi;
  apply_theme(mode);
  if (dpi > 1.0f && frames_ > 0) ImGui::GetStyle().ScaleAllSizes(dpi);  // Hello ImGui scales before the second frame
}

// The chart holds the history's runs; the last one may still be replaced while a drag goes on.
void Workbench::follow_history(const session::Snapshot& snapshot) {
  const session::History& history = snapshot.history;
  const auto same = [&](size_t at) {
    const session::HistoryEntry& entry = history.at(at);
    return entry.id == runs_[at].id && entry.observation == runs_[at].observation;
  };
  if (runs_.size() > history.size || (!runs_.empty() && !same(runs_.size() - 1))) {
    runs_.clear();
    latency_ = {};
  }
  const size_t first = runs_.size();
  for (size_t at = first; at < history.size; ++at) {
    const session::HistoryEntry& entry = history.at(at);
    runs_.push_back({entry.id, entry.observation, entry.change, entry.config_text});
  }
  charts::append(latency_, std::span(runs_).subspan(first));
}

void Workbench::draw() {
  const double begin = platform::steady_ms();
  const session::Snapshot& snapshot = *snapshot_;
  draft_.observe(snapshot);
  follow_history(snapshot);
  const Shown shown = shown_of(snapshot);
  Context context{session_,
                  snapshot,
                  shown,
                  draft_,
                  latency_,
                  glossary_,
                  reported_,
                  settings_,
                  pixels_,
                  slowest_ms_,
                  options_.wake_within};
  actions_.handle_shortcuts();
  draw_menu(context);
  status_bar(context);
  draw_panels(context);
  dialogs_.draw(context, actions_, view_json());
  draw_palette(context);
  toasts_.draw(context);
  keep_settings();
  const session::Focus& focus = snapshot.focus;
  const bool finished = !focus.running && (focus.shown != nullptr || focus.failure) && !draft_.pending();
  settled_ = finished && (focus.failure || shown.verdict() == nullptr || error_panel_->map_complete());
  note_frame_time(platform::steady_ms() - begin);
}

void Workbench::note_frame_time(double ms) {
  const double now = ImGui::GetTime();
  frame_times_[frames_++ % frame_times_.size()] = {now, ms};
  slowest_ms_ = 0;
  for (const auto& [at, took] : frame_times_)
    if (now - at < 1.0) slowest_ms_ = std::max(slowest_ms_, took);
}

// Left to right: controls; the three readouts side by side, and below them what is looked at in turn.
void Workbench::build_layout(unsigned dockspace, float left_share) {
  ImGui::DockBuilderRemoveNode(dockspace);
  ImGui::DockBuilderAddNode(dockspace, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dockspace, ImGui::GetMainViewport()->WorkSize);
  ImGuiID rest = 0, controls = 0, below = 0, readouts = 0, latency = 0, middle = 0, memory = 0, error = 0;
  ImGui::DockBuilderSplitNode(dockspace, ImGuiDir_Left, left_share, &controls, &rest);
  ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.27f, &below, &readouts);
  ImGui::DockBuilderSplitNode(readouts, ImGuiDir_Left, 0.40f, &latency, &middle);
  ImGui::DockBuilderSplitNode(middle, ImGuiDir_Left, 0.5f, &memory, &error);
  const ImGuiID places[] = {controls, latency, memory, error, below};
  for (const auto& panel : panels_)
    ImGui::DockBuilderDockWindow(panel->title(), places[static_cast<int>(panel->dock())]);
  for (const ImGuiID place : places)
    ImGui::DockBuilderGetNode(place)->SetLocalFlags(ImGuiDockNodeFlags_NoWindowMenuButton |
                                                    ImGuiDockNodeFlags_NoCloseButton);
  ImGui::DockBuilderFinish(dockspace);
  open_panel("History");
  settings_.closed.clear();
}

void Workbench::draw_panels(Context& context) {
  const ImGuiID dockspace = ImGui::GetID("attnscope");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool missing = ImGui::DockBuilderGetNode(dockspace) == nullptr;
  ImGui::PopStyleVar();
  if (adopted_ && (reset_wanted_ || missing)) {
    const float width = ImGui::GetMainViewport()->WorkSize.x;
    build_layout(dockspace, std::clamp(em(23.5f) / width, 0.18f, 0.34f));
    reset_wanted_ = false;
  }
  ImGui::DockSpaceOverViewport(dockspace, ImGui::GetMainViewport(), ImGuiDockNodeFlags_None);
  for (const auto& panel : panels_) {
    if (settings_.closed.contains(panel->title())) continue;
    if (ImGui::Begin(panel->title())) panel->draw(context);
    ImGui::End();
  }
  bring_to_front();
}

// A window that is docked anew is a tab that can be chosen only some frames later.
void Workbench::bring_to_front() {
  if (focus_panel_.empty()) return;
  ImGuiWindow* window = ImGui::FindWindowByName(focus_panel_.c_str());
  if (window != nullptr && window->DockNode != nullptr && window->DockNode->TabBar != nullptr &&
      !window->DockTabIsVisible)
    window->DockNode->TabBar->NextSelectedTabId = window->TabId;
  if (--focus_in_ > 0) return options_.wake_within(0.02);
  if (window != nullptr) ImGui::FocusWindow(window);
  focus_panel_.clear();
}

void Workbench::open_palette() {
  palette_open_ = palette_opens_ = true;
  ImCmd::RemoveAllCaches();
}

void Workbench::open_panel(const std::string& title) {
  settings_.closed.erase(title);
  focus_panel_ = title;
  focus_in_ = kFramesToDock;
  options_.wake_within(0.02);
}

std::string Workbench::refusal_of(const std::string& knob) const { return experiment_panel_->refusal_of(knob); }

std::optional<RailPlace> Workbench::rail_of(const std::string& knob) const { return experiment_panel_->rail_of(knob); }

void Workbench::drop(const std::filesystem::path& file) { session_.load_preset(file); }

void Workbench::keep_settings() {
  ImGuiIO& io = ImGui::GetIO();
  if (io.WantSaveIniSettings) {
    io.WantSaveIniSettings = false;
    size_t size = 0;
    const char* text = ImGui::SaveIniSettingsToMemory(&size);
    settings_.layout.assign(text, size);
  }
  if (!options_.keep_settings || !adopted_ || settings_ == kept_settings_) return;
  if (keep_at_ == 0) {
    keep_at_ = ImGui::GetTime() + kKeepAfterSeconds;
    options_.wake_within(kKeepAfterSeconds + 0.05);
  }
  if (ImGui::GetTime() >= keep_at_) keep_settings_now();
}

void Workbench::keep_settings_now() {
  keep_at_ = 0;
  if (!options_.keep_settings || !adopted_ || settings_ == kept_settings_) return;
  kept_settings_ = settings_;
  session_.set_setting(kSettingsKey, to_json(settings_));
}

Json Workbench::view_json() const { return Json{{"theme", settings_.theme == ThemeMode::dark ? "dark" : "light"}}; }

void Workbench::add_actions() {
  const auto add = [this](const char* id, const char* title, ImGuiKeyChord chord, std::function<void()> run,
                          std::function<std::string()> why_not = {}) {
    actions_.add({id, title, chord, std::move(run), std::move(why_not)});
  };
  add("palette", "Command palette", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P, [this] { open_palette(); });
  add("open", "Open preset\u2026", ImGuiMod_Ctrl | ImGuiKey_O, [this] { dialogs_.open_preset(); });
  add("save", "Save preset", ImGuiMod_Ctrl | ImGuiKey_S, [this] {
    if (snapshot_->preset_path.empty())
      dialogs_.save_preset_as("");
    else
      session_.save_preset(snapshot_->preset_path, {}, view_json());
  });
  add("save as", "Save preset as\u2026", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S,
      [this] { dialogs_.save_preset_as(""); });
  add(
      "quit", "Quit", ImGuiMod_Ctrl | ImGuiKey_Q, [this] { options_.quit(); },
      [this] { return options_.quit ? "" : "There is no window to close."; });
  add(
      "undo", "Undo", ImGuiMod_Ctrl | ImGuiKey_Z, [this] { session_.undo(); },
      [this] { return snapshot_->can_undo ? "" : "Nothing was changed yet."; });
  add(
      "redo", "Redo", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z, [this] { session_.redo(); },
      [this] { return snapshot_->can_redo ? "" : "Nothing was undone."; });
  add("rerun", "Run again", ImGuiKey_F5, [this] { session_.rerun(); });
  add(
      "cancel", "Cancel the run", ImGuiMod_Ctrl | ImGuiKey_Period, [this] { session_.cancel(); },
      [this] { return snapshot_->focus.running ? "" : "Nothing is running."; });
  add(
      "live", "Back to the live run", ImGuiKey_Escape, [this] { session_.select_history(0); },
      [this] { return snapshot_->selected ? "" : "The live run is on show."; });
  add("reload", "Reload kernels", ImGuiMod_Ctrl | ImGuiKey_R, [this] { session_.reload_kernels(); });
  add("theme", "Light or dark", ImGuiMod_Ctrl | ImGuiKey_T,
      [this] { settings_.theme = settings_.theme == ThemeMode::dark ? ThemeMode::light : ThemeMode::dark; });
  const auto zoom = [this](float factor) {
    settings_.zoom =
        factor == 0 ? 1.0f : std::clamp(settings_.zoom * factor, WindowSettings::kMinZoom, WindowSettings::kMaxZoom);
  };
  add("zoom in", "Zoom in", ImGuiMod_Ctrl | ImGuiKey_Equal, [zoom] { zoom(1.1f); });
  add("zoom out", "Zoom out", ImGuiMod_Ctrl | ImGuiKey_Minus, [zoom] { zoom(1 / 1.1f); });
  add("zoom reset", "Zoom 100 %", ImGuiMod_Ctrl | ImGuiKey_0, [zoom] { zoom(0); });
  add("reset layout", "Reset the layout", 0, [this] { reset_layout(); });
  add("shortcuts", "Shortcuts", ImGuiKey_F1, [this] { dialogs_.shortcuts(); });
  add("glossary", "Glossary", 0, [this] { dialogs_.glossary(); });
  add("about", "About attnscope", 0, [this] { dialogs_.about(); });
}

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
  const auto menu = [this](const char* title, std::initializer_list<const char*> ids) {
    if (!ImGui::BeginMenu(title)) return;
    for (const char* id : ids) {
      if (*id == '\0')
        ImGui::Separator();
      else
        actions_.menu_item(id);
    }
    ImGui::EndMenu();
  };
  menu("File", {"open", "save", "save as", "", "reload", "", "quit"});
  menu("Edit", {"undo", "redo"});
  menu("Run", {"rerun", "cancel", "", "live"});
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
    for (const char* id : {"theme", "zoom in", "zoom out", "zoom reset"}) actions_.menu_item(id);
    ImGui::Separator();
    actions_.menu_item("reset layout");
    ImGui::EndMenu();
  }
  menu("Help", {"palette", "shortcuts", "glossary", "", "about"});
  const std::string hint = chord_text(actions_.find("palette")->chord) + "  " ICON_SEARCH;
  const float theme_width = em(2.2f), room = ImGui::GetContentRegionAvail().x;
  if (room > width_of(hint) + theme_width + em(2)) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width_of(hint) - theme_width - em(1.5f));
    ImGui::PushStyleColor(ImGuiCol_Text, palette().faint);
    if (ImGui::MenuItem(hint.c_str())) open_palette();
    ImGui::PopStyleColor();
    if (ImGui::MenuItem(settings_.theme == ThemeMode::dark ? ICON_SUN "##theme" : ICON_MOON "##theme"))
      actions_.find("theme")->run();
    tooltip(settings_.theme == ThemeMode::dark ? "Light theme" : "Dark theme");
  }
  ImGui::EndMainMenuBar();
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
      tooltip(preset.path);
    }
  if (!any) ImGui::MenuItem("No preset was found", nullptr, false, false);
  ImGui::Separator();
  for (const char* id : {"open", "save", "save as"}) actions_.menu_item(id);
  ImGui::EndMenu();
}

void Workbench::add_palette_commands() {
  ImCmd::SetCurrentContext(palette_);
  for (const Action& action : actions_.all()) {
    if (action.id == "palette") continue;
    const std::string keys = chord_text(action.chord);
    ImCmd::AddCommand({action.title + (keys.empty() ? "" : "   " + keys),
                       [this, id = action.id] {
                         const Action* found = actions_.find(id);
                         if (found->refusal().empty())
                           found->run();
                         else
                           session_.note(session::LogLevel::info, found->title + ": " + found->refusal());
                       },
                       {},
                       {}});
  }
  for (const auto& panel : panels_)
    ImCmd::AddCommand({std::string("Show ") + panel->title(),
                       [this, title = std::string(panel->title())] { open_panel(title); },
                       {},
                       {}});
  ImCmd::AddCommand({"Load preset",
                     [this] {
                       std::vector<std::string> names;
                       if (snapshot_->presets)
                         for (const session::PresetItem& preset : *snapshot_->presets)
                           names.push_back(preset.group + ": " + preset.name);
                       ImCmd::Prompt(std::move(names));
                     },
                     [this](int chosen) {
                       if (snapshot_->presets && chosen >= 0 &&
                           static_cast<size_t>(chosen) < snapshot_->presets->size())
                         session_.load_preset((*snapshot_->presets)[static_cast<size_t>(chosen)].path);
                     },
                     {}});
  const auto settings = [this] {
    std::vector<std::tuple<std::string, const Knob*, int64_t>> lines;
    if (const Kernel* kernel = session::find_kernel(*snapshot_, draft_.current().kernel))
      for (const Knob& knob : kernel->knobs)
        for (const KnobValue& value : knob.values)
          lines.emplace_back(knob.name + " = " + value.text(), &knob, value.value);
    return lines;
  };
  ImCmd::AddCommand({"Set a knob",
                     [settings] {
                       std::vector<std::string> names;
                       for (const auto& line : settings()) names.push_back(std::get<0>(line));
                       ImCmd::Prompt(std::move(names));
                     },
                     [this, settings](int chosen) {
                       const auto lines = settings();
                       if (chosen < 0 || static_cast<size_t>(chosen) >= lines.size()) return;
                       const auto& [name, knob, value] = lines[static_cast<size_t>(chosen)];
                       session::Draft wish = draft_.current();
                       const std::string change = change_text(*knob, wish.knobs[knob->name], value);
                       wish.knobs[knob->name] = value;
                       draft_.posted(wish);
                       session_.focus(std::move(wish), {next_gesture(), true, change});
                     },
                     {}});
}

void Workbench::draw_palette(Context&) {
  if (!palette_open_) return;
  ImCmd::SetCurrentContext(palette_);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2, viewport->WorkPos.y + em(3)},
                          ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(em(36), viewport->WorkSize.x * 0.8f), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, mixed(palette().panel, palette().raised, 0.8f));
  if (std::exchange(palette_opens_, false)) {
    ImGui::SetNextWindowFocus();
    ImCmd::SetNextCommandPaletteSearchBoxFocused();
  }
  ImGui::Begin("Command palette", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoSavedSettings);
  ImCmd::CommandPalette("palette");
  const bool clicked_beside =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows);
  if (ImCmd::IsAnyItemSelected() || clicked_beside || ImGui::IsKeyPressed(ImGuiKey_Escape)) palette_open_ = false;
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

}  // namespace attnscope::ui
