#include "ui/workbench.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catalog/reported.h"
#include "core/device_id.h"
#include "core/joined.h"
#include "core/text.h"
#include "platform/clock.h"
#include "platform/json_file.h"
#include "ui/display/interop.h"
#include "ui/icons.h"
#include "ui/panels/attention_panel.h"
#include "ui/panels/error_panel.h"
#include "ui/panels/experiment_panel.h"
#include "ui/panels/history_panel.h"
#include "ui/panels/latency_panel.h"
#include "ui/panels/panels.h"
#include "ui/panels/source_panel.h"
#include "ui/widgets/text.h"

namespace attnscope::ui {
namespace {

// Increased when the default layout changes, so that older saved layouts are ignored.
constexpr int kLayoutVersion = 7;
constexpr double kKeepAfterSeconds = 2;  // settings are passed on this long after their last change

}  // namespace

Workbench::Workbench(session::Session& session, WorkbenchOptions options)
    : session_(session),
      options_(std::move(options)),
      snapshot_(session.snapshot()),
      hardware_(
          options_.profiling, options_.wake ? options_.wake : [] {}),
      sweep_(
          session, options_.results, options_.resources, options_.wake ? options_.wake : [] {}),
      preset_dialogs_(options_.user_presets),
      workers_dialog_({[this](const session::WorkerCommand& added) {
                         if (auto profiles = options_.profiler ? options_.profiler(added) : std::nullopt)
                           hardware_.add_worker(std::move(*profiles));
                       },
                       [this](const std::string& name) { hardware_.remove_worker(name); }}),
      command_pane_(
          options_.program, options_.wake ? options_.wake : [] {}) {
  load_assets();
  for (MakePanel* const make : kPanels) panels_.push_back(make(options_.resources / "shaders"));
  find_panel(experiment_panel_);
  find_panel(error_panel_);
  find_panel(attention_panel_);
  find_panel(history_panel_);
  find_panel(source_panel_);
  find_panel(latency_panel_);
  add_actions();
  apply_theme(settings_.theme);
}

Workbench::~Workbench() = default;

template <class Wanted>
void Workbench::find_panel(Wanted*& wanted) {
  for (const auto& panel : panels_)
    if (auto* const found = dynamic_cast<Wanted*>(panel.get())) wanted = found;
}

void Workbench::load_assets() {
  const std::filesystem::path assets = options_.resources / "assets";
  if (Result<Glossary> glossary = Glossary::load(assets / "glossary.md"))
    glossary_ = std::move(*glossary);
  else
    session_.note(session::LogLevel::warning, glossary.error().message);
  std::vector<Failure> faults;
  for (const std::filesystem::path& folder : {assets / "lessons", options_.own_lessons})
    if (!folder.empty())
      for (lesson::Lesson& one : lesson::list_lessons(folder, faults)) lessons_.push_back(std::move(one));
  for (const Failure& fault : faults) session_.note(session::LogLevel::warning, fault.message);
  std::error_code unreadable;
  for (const std::filesystem::path& file : platform::json_files_in(assets / "reported", unreadable)) {
    const auto figures = catalog::load_reported(file);
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
    if (changed.theme != WindowSettings{}.theme) settings_.theme = changed.theme;  // set on the command line
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
  adopt_session(*snapshot_);
  const bool presents = presenter_.is_on();
  const ThemeMode theme = presents ? theme_of(is_dark(settings_.theme), true) : settings_.theme;
  if (theme_mode() != theme) apply_theme(theme);
  ImGui::GetStyle().FontScaleMain =
      settings_.zoom * (presents ? presenter_.type_scale(ImGui::GetIO().DisplaySize) : 1.0f);
}

Result<void> Workbench::open_lesson(const std::string& id) {
  for (const lesson::Lesson& one : lessons_)
    if (one.id == id) {
      desk_.open(one);
      return {};
    }
  return fail(Stage::input, "there is no lesson " + id,
              "The lessons are: " +
                  joined(
                      lessons_, [](const lesson::Lesson& one) { return one.id; }, ", ") +
                  ".");
}

// Updates the chart with the history's runs. The last one may still be replaced during a drag, and any run by its
// watch.
void Workbench::follow_history(const session::Snapshot& snapshot) {
  const session::History& history = snapshot.history;
  const auto same = [&](size_t at) {
    const session::HistoryEntry& entry = history.at(at);
    return entry.id == runs_[at].id && entry.observation == runs_[at].observation;
  };
  size_t kept = 0;
  while (kept < std::min(runs_.size(), history.size) && same(kept)) ++kept;
  if (kept < runs_.size()) {
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
  adopt_view(snapshot);
  const Shown shown = shown_of(snapshot);
  Interop* const way_in = choose_pixel_way(shown);
  baseline_ = baseline_of(snapshot, shown, latency_, settings_.pinned);
  tries_.follow(session_, snapshot, shown, may_try(shown));
  Context context{session_,
                  snapshot,
                  shown,
                  draft_,
                  latency_,
                  baseline_,
                  tries_,
                  glossary_,
                  reported_,
                  lessons_,
                  desk_,
                  sweep_,
                  hardware_,
                  command_pane_,
                  settings_,
                  view_,
                  pixels_,
                  way_in,
                  slowest_ms_,
                  options_.wake_within,
                  [this](int64_t line) {
                    source_panel_->show_line(line);
                    open_panel(source_panel_->title());
                  },
                  [this] { open_panel(kWhyTitle); },
                  [this](const std::string& name, std::string text) { save_.open(name, std::move(text)); },
                  [this](const std::string& title, const std::string& name) { picture_.ask(title, name); },
                  [this] { open_panel(kLessonTitle); },
                  [this] { workers_dialog_.open(); }};
  desk_.follow(context);
  hardware_.follow(session_, snapshot);
  source_panel_->editor().follow(context);
  actions_.handle_shortcuts();
  draw_content(context);
  if (const auto leave = std::exchange(leave_, nullptr)) leave(context);
  dialogs_.draw(context, actions_);
  save_.draw(context);
  preset_dialogs_.draw(context, view_json());
  session_dialog_.draw(context, [this] { return session_json(); });
  workers_dialog_.draw(context);
  palette_.draw();
  toasts_.draw(context);
  picture_.follow(context);
  keep_settings();
  const session::Focus& focus = snapshot.focus;
  const bool finished = !focus.running && (focus.shown != nullptr || focus.failure) && !draft_.pending();
  const bool watching = focus.watch == session::WatchState::waiting || focus.watch == session::WatchState::running;
  const bool presents = presenter_.is_on();
  const bool maps = !presents && shown.verdict() != nullptr &&
                    shown.observation->experiment.problem.is_attention();  // other problems have no maps
  // While a new layout docks its panels, it is not known which maps are visible.
  settled_ = finished && !watching && !source_panel_->makes() && (focus.failure || !maps || maps_complete()) &&
             (presents ? presenter_.settled() && !desk_.runs() : docks_in_ == 0 && uncovers_in_ == 0);
  note_frame_time(platform::steady_ms() - begin);
}

// True if the live run has ended and no request of a person is pending.
bool Workbench::may_try(const Shown& shown) const {
  const session::Focus& focus = snapshot_->focus;
  const bool watching = focus.watch == session::WatchState::waiting || focus.watch == session::WatchState::running;
  const bool ended =
      !focus.running && !focus.failure && !watching && shown.state(session::Part::timing) == session::PartState::fresh;
  return settings_.tries && ended && !shown.from_history() && !draft_.pending() && snapshot_->queue_waiting == 0;
}

// Maps stay on the GPU if the measuring GPU also draws the window. The status bar says which path is used, and why.
Interop* Workbench::choose_pixel_way(const Shown& shown) {
  if (!shown.observation || shown.verdict() == nullptr) return interop_.get();  // no map is shown yet
  const DeviceId device(shown.observation->experiment.device);
  if (!device.is_own() || device.kind != DeviceId::Kind::gpu) {
    pixels_ = {"pipe",
               device.is_own()
                   ? "Maps come through the worker's pipe at the panel's resolution: the device is emulated on the "
                     "CPU, so there is no GPU memory to share."
                   : "Maps come through the worker's pipe at the panel's resolution: the GPU is another machine's."};
    return nullptr;
  }
  const int gpu = number_of<int>(device.name).value_or(0);
  if (!interop_ || interop_->gpu() != gpu) {
    if (interop_) return nullptr;  // maps hold memory of the first GPU as long as the window is open
    interop_ = std::make_unique<Interop>(gpu);
    pixels_ = {"pipe", "CUDA starts in the window, to see whether the GPU that measures also draws."};
  }
  const Interop::State before = interop_state_;
  interop_state_ = interop_->poll();
  if (interop_state_ == Interop::State::starting) options_.wake_within(0.05);
  if (interop_state_ == Interop::State::refused) pixels_ = {"pipe", interop_->refusal()};
  if (interop_state_ == Interop::State::ready && before != interop_state_)
    pixels_ = {
        "GPU",
        "Maps stay on the GPU: the executor writes them into the window's memory (CUDA IPC), and they are copied "
        "into its OpenGL image."};
  return interop_.get();
}

void Workbench::note_frame_time(double ms) {
  const double now = ImGui::GetTime();
  frame_times_[frames_++ % frame_times_.size()] = {now, ms};
  slowest_ms_ = 0;
  for (const auto& [at, took] : frame_times_)
    if (now - at < 1.0) slowest_ms_ = std::max(slowest_ms_, took);
}

uint64_t Workbench::compared_run() const { return history_panel_->compares() ? baseline_.run() : 0; }
int64_t Workbench::source_line() const { return source_panel_->shown_line(); }

MapView& Workbench::map_of(MapKind kind) {
  return kind == MapKind::attention ? attention_panel_->map() : error_panel_->map();
}

std::string Workbench::refusal_of(const std::string& knob) const { return experiment_panel_->refusal_of(knob); }

const std::string& Workbench::pressing_notes() const { return experiment_panel_->pressing(); }

std::optional<RailPlace> Workbench::rail_of(const std::string& knob) const { return experiment_panel_->rail_of(knob); }
std::optional<RailPlace> Workbench::cell_of(const std::string& knob, int64_t value) const {
  return experiment_panel_->cell_of(knob, value);
}

void Workbench::drop(const std::filesystem::path& file) {
  if (file.extension() == ".cu") return command_pane_.open_import(file.string());
  preset_dialogs_.manages() ? session_.copy_preset(file) : session_.load_preset(file);
}

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
  if (ImGui::GetTime() >= keep_at_) pass_settings();
}

void Workbench::keep_settings_now() {
  source_panel_->editor().save_at_end(session_);
  pass_settings();
}

void Workbench::pass_settings() {
  keep_at_ = 0;
  if (!options_.keep_settings || !adopted_ || settings_ == kept_settings_) return;
  kept_settings_ = settings_;
  session_.set_setting(kSettingsKey, to_json(settings_));
}

// What a preset stores of the window: the view, but no personal preferences (theme, zoom, sizes).
Json Workbench::view_json() const {
  Json view = to_json(view_);
  view["closed"] = settings_.closed;
  Json in_front = Json::array();
  for (const auto& panel : panels_) {
    const ImGuiWindow* window = ImGui::FindWindowByName(panel->title());
    const bool shares_its_place = panel->dock() == Dock::below || panel->dock() == Dock::error;
    if (shares_its_place && window != nullptr && window->DockTabIsVisible) in_front.push_back(panel->title());
  }
  view["in_front"] = std::move(in_front);
  return view;
}

// What a session stores of the window: also the layout and A, which belong to the work.
Json Workbench::session_json() const {
  Json view = view_json();
  WindowSettings now = settings_;
  size_t size = 0;
  const char* text = ImGui::SaveIniSettingsToMemory(&size);  // the layout in settings_ may be some seconds old
  now.layout.assign(text, size);
  const Json window = to_json(now);
  for (const char* key : {"layout", "layout_version", "built_docks", "pinned"}) view["window"][key] = window.at(key);
  return view;
}

// Runs before a frame, because the layout can be replaced only there.
void Workbench::adopt_session(const session::Snapshot& snapshot) {
  if (snapshot.opened.number == adopted_session_) return;
  adopted_session_ = snapshot.opened.number;
  if (!snapshot.opened.view) return;
  const Json& view = *snapshot.opened.view;
  if (const auto window = view.find("window"); window != view.end()) {
    const WindowSettings kept = window_settings_from_json(*window);
    settings_.pinned = kept.pinned;
    if (kept.layout_version == kLayoutVersion && !kept.layout.empty()) {
      settings_.layout = kept.layout;
      settings_.built_docks = kept.built_docks;
      ImGui::LoadIniSettingsFromMemory(kept.layout.data(), kept.layout.size());
    }
  }
  adopt_view(view);
}

// A loaded preset restores the view that it was saved with.
void Workbench::adopt_view(const session::Snapshot& snapshot) {
  if (snapshot.preset_view == adopted_view_) return;
  adopted_view_ = snapshot.preset_view;
  if (adopted_view_) adopt_view(*adopted_view_);
}

void Workbench::adopt_view(const Json& view) {
  adopt(view_, view);
  const auto names_panel = [&](const Json& title) {
    return title.is_string() &&
           std::any_of(panels_.begin(), panels_.end(), [&](const auto& panel) { return title == panel->title(); });
  };
  if (const auto closed = view.find("closed"); closed != view.end() && closed->is_array()) {
    settings_.closed.clear();
    for (const Json& title : *closed)
      if (names_panel(title)) settings_.closed.insert(title.get<std::string>());
  }
  if (const auto front = view.find("in_front"); front != view.end() && front->is_array())
    for (const Json& title : *front)
      if (names_panel(title)) open_panel(title.get<std::string>());
}

}  // namespace attnscope::ui
