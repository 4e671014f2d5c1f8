// The window's commands: actions and the command palette's lines.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "ui/export_menu.h"
#include "ui/panels/experiment_panel.h"
#include "ui/panels/history_panel.h"
#include "ui/panels/latency_panel.h"
#include "ui/panels/panels.h"
#include "ui/panels/source_panel.h"
#include "ui/widgets/clipboard.h"
#include "ui/workbench.h"

namespace attnscope::ui {

void Workbench::add_actions() {
  const char* group = "File";
  const auto add = [&, this](const char* id, const char* title, ImGuiKeyChord chord, std::function<void()> run,
                             std::function<std::string()> why_not = {}) {
    actions_.add({id, title, chord, std::move(run), std::move(why_not), group});
  };
  add("open", "Open preset\u2026", ImGuiMod_Ctrl | ImGuiKey_O, [this] { preset_dialogs_.open(); });
  add("save", "Save preset", ImGuiMod_Ctrl | ImGuiKey_S, [this] {
    const std::filesystem::path path = snapshot_->preset_path;
    if (path.empty() || path.parent_path() != snapshot_->user_preset_dir)  // shipped presets are read-only
      preset_dialogs_.save_as(snapshot_->preset_title);
    else
      session_.save_preset(snapshot_->preset_path, {}, view_json());
  });
  add("save as", "Save preset as\u2026", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S,
      [this] { preset_dialogs_.save_as(""); });
  add("presets", "Manage presets\u2026", 0, [this] { preset_dialogs_.manage(); });
  add("sessions", "Sessions\u2026", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_O, [this] { session_dialog_.open(); });
  add(
      "close session", "Leave the open session", 0, [this] { session_.close_session(); },
      [this] { return snapshot_->opened.title.empty() ? "No session is open." : ""; });
  add("find runs", "Find runs in the history", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_F, [this] {
    open_panel(history_panel_->title());
    history_panel_->find();
  });
  add(
      "quit", "Quit", ImGuiMod_Ctrl | ImGuiKey_Q, [this] { options_.quit(); },
      [this] { return options_.quit ? "" : "There is no window to close."; });
  const auto leave = [this](void (*what)(Context&)) { leave_ = what; };
  const auto no_run = [this] { return shown_of(*snapshot_).observation ? "" : "No run is shown."; };
  add("save plot", "Save the latency plot as SVG\u2026", 0, [this] {
    leave_ = [this](Context& context) { context.save("latency.svg", charts::svg_of(latency_panel_->figure(context))); };
  });
  add("save picture", "Save a picture of the window as PNG\u2026", 0, [this] { picture_.ask("", "attnscope"); });
  add("save runs", "Save all runs as CSV\u2026", 0, [leave] {
    leave([](Context& context) { context.save("runs.csv", charts::csv_of(sheet_of(context.snapshot.history))); });
  });
  add(
      "save run", "Save the shown run as JSON\u2026", 0,
      [leave] {
        leave([](Context& context) {
          if (context.shown.observation) context.save("run.json", json_of(*context.shown.observation));
        });
      },
      no_run);
  add(
      "copy line", "Copy the shown run as a command line", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_C,
      [this] { copy(run_line(*snapshot_, *shown_of(*snapshot_).observation).words); },
      [this, no_run]() -> std::string {
        if (const std::string why = no_run(); !why.empty()) return why;
        return run_line(*snapshot_, *shown_of(*snapshot_).observation).refusal;
      });
  group = "Edit";
  add(
      "undo", "Undo", ImGuiMod_Ctrl | ImGuiKey_Z, [this] { session_.undo(); },
      [this] { return snapshot_->can_undo ? "" : "Nothing was changed yet."; });
  add(
      "redo", "Redo", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Z, [this] { session_.redo(); },
      [this] { return snapshot_->can_redo ? "" : "Nothing was undone."; });
  const auto reset = [&, this](const char* id, const char* title, Draft (*own)(Draft, const Kernel&)) {
    const auto wish = [this, own]() -> std::optional<Draft> {
      const Kernel* kernel = session::find_kernel(*snapshot_, draft_.current().kernel);
      return kernel != nullptr ? std::optional(own(draft_.current(), *kernel)) : std::nullopt;
    };
    const auto same = [](const Draft& a, const Draft& b) { return a.config == b.config && a.problem == b.problem; };
    add(
        id, title, 0, [this, wish, title] { ask(*wish(), title); },
        [this, wish, same] {
          const std::optional<Draft> reset_to = wish();
          return !reset_to || same(*reset_to, draft_.current()) ? "There is nothing to reset." : "";
        });
  };
  reset("reset knobs", "Reset the kernel's knobs", with_own_knobs);
  reset("reset problem", "Reset the problem", with_own_problem);
  add(
      "edit source", "Edit the kernel's source, in a copy", ImGuiMod_Ctrl | ImGuiKey_E,
      [this] {
        open_panel(source_panel_->title());
        leave_ = [this](Context& context) { source_panel_->edit(context); };
      },
      [this] { return why_not_edited(session::find_kernel(*snapshot_, draft_.current().kernel)); });
  add(
      "leave source", "Leave the source's editor", 0, [this] { source_panel_->end_edit(session_); },
      [this] { return source_panel_->edits() ? "" : "No source is being edited."; });
  actions_.add({.id = "step knob", .title = "Step a knob that has the focus", .group = group, .keys = "Left, Right"});
  actions_.add({.id = "move", .title = "Move between controls", .group = group, .keys = "Tab, arrow keys"});
  group = "Run";
  add("rerun", "Run again", ImGuiKey_F5, [this] { session_.rerun(); });
  add(
      "watch", "Watch for races", 0, [this] { session_.watch(); },
      [this] {
        const session::Focus& focus = snapshot_->focus;
        if (focus.running) return "Something is running.";
        if (focus.failure || focus.shown == nullptr) return "Nothing has run to its end.";
        const bool busy = focus.watch == session::WatchState::waiting || focus.watch == session::WatchState::running;
        return busy ? "It is being watched." : "";
      });
  add("tries", "Try what findings propose", 0, [this] { settings_.tries = !settings_.tries; });
  add(
      "cancel", "Cancel the run", ImGuiMod_Ctrl | ImGuiKey_Period, [this] { session_.cancel(); },
      [this] { return snapshot_->focus.running ? "" : "Nothing is running."; });
  add(
      "live", "Back to the live run", 0, [this] { session_.select_history(0); },
      [this] { return snapshot_->selected ? "" : "The live run is already shown."; });
  add(
      "close", "Close what is open, then back to the live run", ImGuiKey_Escape, [this] { close_one(); },
      [this] { return closable() ? "" : "Nothing is open."; });
  add(
      "compare", "Compare with A, figure by figure", ImGuiMod_Ctrl | ImGuiKey_D,
      [this] {
        history_panel_->compare(true);
        open_panel(history_panel_->title());
      },
      [this] { return baseline_.run() == 0 ? "There is no A: no earlier run has a time." : ""; });
  add("why", "Why: the time term by term", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_E,
      [this] { open_panel(kWhyTitle); });
  add(
      "pin", "Pin the shown run as A", ImGuiMod_Ctrl | ImGuiKey_B,
      [this] { settings_.pinned = pin_of(snapshot_->history.at(*latency_.column_of(shown_of(*snapshot_).run))); },
      [this] { return why_not_pinned(); });
  add(
      "unpin", "Unpin A", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_B, [this] { settings_.pinned.reset(); },
      [this] { return settings_.pinned ? "" : "No run is pinned: A is the run before."; });
  add("export", "Export this config\u2026", 0, [this] { command_pane_.open(CommandKind::export_config); });
  add("best", "Find the best config\u2026", 0, [this] { command_pane_.open(CommandKind::best); });
  add("bench", "Bench this config\u2026", 0, [this] { command_pane_.open(CommandKind::bench); });
  add("import", "Import a kernel\u2026", 0, [this] { command_pane_.open_import(""); });
  add("workers", "Workers\u2026", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_W, [this] { workers_dialog_.open(); });
  add("reload", "Reload kernels", ImGuiMod_Ctrl | ImGuiKey_R, [this] { session_.reload_kernels(); });
  group = "View";
  const auto set_theme = [this](bool other_ground, bool other_contrast) {
    const ThemeMode now = settings_.theme;
    settings_.theme = theme_of(is_dark(now) != other_ground, is_contrast(now) != other_contrast);
  };
  add("theme", "Light or dark", ImGuiMod_Ctrl | ImGuiKey_T, [set_theme] { set_theme(true, false); });
  add("contrast", "High contrast", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_T,
      [set_theme] { set_theme(false, true); });
  for (const auto& [id, title, choice] :
       {std::tuple{"axis auto", "Latency axis automatic", charts::AxisChoice::automatic},
        {"axis linear", "Latency axis linear", charts::AxisChoice::linear},
        {"axis log", "Latency axis logarithmic", charts::AxisChoice::logarithmic}})
    add(id, title, 0, [this, choice = choice] { view_.latency_axis = choice; });
  const auto zoom = [this](float factor) {
    settings_.zoom =
        factor == 0 ? 1.0f : std::clamp(settings_.zoom * factor, WindowSettings::kMinZoom, WindowSettings::kMaxZoom);
  };
  add("zoom in", "Zoom in", ImGuiMod_Ctrl | ImGuiKey_Equal, [zoom] { zoom(1.1f); });
  add("zoom out", "Zoom out", ImGuiMod_Ctrl | ImGuiKey_Minus, [zoom] { zoom(1 / 1.1f); });
  add("zoom reset", "Zoom 100 %", ImGuiMod_Ctrl | ImGuiKey_0, [zoom] { zoom(0); });
  add("tall", "Lower panels taller, or as before", 0, [this] {
    const char* const one_of_them = source_panel_->title();
    set_tall(one_of_them, !is_tall(one_of_them));
  });
  add("reset layout", "Reset the layout", 0, [this] { reset_layout(); });
  for (const auto& [id, title, kind] : {std::tuple{"layout narrow", "Layout for a narrow window", LayoutKind::narrow},
                                        {"layout small", "Layout for a small window", LayoutKind::small},
                                        {"layout usual", "Layout for a usual window", LayoutKind::usual},
                                        {"layout large", "Layout for a large window", LayoutKind::large}})
    add(id, title, 0, [this, kind = kind] { build_wanted_ = kind; });
  group = "Presenter mode";
  add("present", "Presenter mode", ImGuiKey_F11, [this] { present(!presenter_.is_on()); });
  const auto only_on = [this] { return presenter_.is_on() ? "" : "Only in presenter mode."; };
  const auto step = [this](int direction) { presenter_.step(direction, desk_, session_, *snapshot_); };
  add(
      "on", "On", ImGuiKey_RightArrow, [step] { step(1); }, only_on);
  actions_.also("on", ImGuiKey_PageDown);
  add(
      "back", "Back", ImGuiKey_LeftArrow, [step] { step(-1); }, only_on);
  actions_.also("back", ImGuiKey_PageUp);
  actions_.add(
      {"take",
       "Take the marked answer",
       ImGuiKey_Enter,
       [this] { presenter_.take_marked(desk_); },
       [this] { return presenter_.why_not_taken(desk_); },
       group,
       {ImGuiKey_KeypadEnter, ImGuiKey_Space, ImGuiKey_Period, ImGuiKey_B},  // . and B: a clicker's black screen
       "Enter, Space"});
  actions_.add({.id = "answer", .title = "Answer a question", .group = group, .keys = "1 to 9"});
  group = "Help";
  add("lessons", "Lessons", ImGuiMod_Ctrl | ImGuiKey_L, [this] { open_panel(kLessonTitle); });
  add("palette", "Command palette", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P, [this] { open_palette(); });
  add("shortcuts", "Command sheet", ImGuiKey_F1, [this] { dialogs_.commands(); });
  add("glossary", "Glossary", 0, [this] { dialogs_.glossary(); });
  add("found", "What was found", 0, [this] { dialogs_.found(); });
  add("about", "About attnscope", 0, [this] { dialogs_.about(); });
}

// False while the palette, a menu or a dialog is open, because they close themselves.
bool Workbench::closable() const {
  return !palette_.is_open() &&
         (presenter_.is_on() || command_pane_.is_open() || source_panel_->edits() || experiment_panel_->refuses() ||
          history_panel_->compares() || snapshot_->selected.has_value());
}

// Each press of Escape closes one thing, in this order.
void Workbench::close_one() {
  if (presenter_.is_on())
    present(false);
  else if (command_pane_.is_open())
    command_pane_.close();
  else if (source_panel_->edits())
    source_panel_->end_edit(session_);
  else if (experiment_panel_->refuses())
    experiment_panel_->drop_refusals();
  else if (history_panel_->compares())
    history_panel_->compare(false);
  else
    session_.select_history(0);
}

std::string Workbench::why_not_pinned() const {
  const std::optional<size_t> column = latency_.column_of(shown_of(*snapshot_).run);
  return column && *column < snapshot_->history.size ? ui::why_not_pinned(snapshot_->history.at(*column))
                                                     : "No run is shown.";
}

// Commands first, then panels, knob values and presets, each in the order of the window's other lists.
void Workbench::open_palette() {
  std::vector<PaletteEntry> entries;
  for (const Action& action : actions_.all())
    if (action.run && action.id != "palette")
      entries.push_back({action.title, action.keys_text(), action.refusal(), action.run});
  for (const auto& panel : panels_)
    entries.push_back({std::string("Show ") + panel->title(), "", "",
                       [this, title = std::string(panel->title())] { open_panel(title); }});
  for (const auto& panel : panels_)
    entries.push_back({std::string("Save a picture of ") + panel->title() + " as PNG\u2026", "", "",
                       [this, title = std::string(panel->title())] {
                         open_panel(title);
                         picture_.ask(title, file_name_of(title));
                       }});
  const Draft& draft = draft_.current();
  if (snapshot_->kernels)
    for (const Kernel& kernel : *snapshot_->kernels)
      entries.push_back(
          {"Choose kernel " + kernel.id, "", kernel.id == draft.kernel ? "It is chosen." : "", [this, id = kernel.id] {
             leave_ = [id](Context& context) { ExperimentPanel::choose(context, id); };
             options_.wake_within(0.01);
           }});
  if (const Kernel* kernel = session::find_kernel(*snapshot_, draft.kernel))
    for (const Knob& knob : kernel->knobs)
      for (const KnobValue& value : knob.values) {
        const auto held = draft.config.knobs.find(knob.name);
        const bool is_it = held != draft.config.knobs.end() && held->second == value.value;
        entries.push_back({"Set " + knob.name + " to " + value.text(), "", is_it ? "It already has this value." : "",
                           [this, knob, to = value.value] { set_knob(knob, to); }});
      }
  if (snapshot_->presets)
    for (const session::PresetItem& preset : *snapshot_->presets)
      entries.push_back({"Load preset " + preset.group + ": " + preset.name, "", "",
                         [this, path = preset.path] { session_.load_preset(path); }});
  palette_.open(std::move(entries));
}

void Workbench::set_knob(const Knob& knob, int64_t value) {
  Draft wish = draft_.current();
  const auto held = wish.config.knobs.find(knob.name);
  const std::string change =
      change_text(knob, held != wish.config.knobs.end() ? held->second : knob.default_value, value);
  wish.config.knobs[knob.name] = value;
  ask(std::move(wish), change);
}

void Workbench::ask(Draft wish, const std::string& change) {
  draft_.posted(wish);
  session_.focus(std::move(wish), {next_gesture(), true, change});
}

}  // namespace attnscope::ui
