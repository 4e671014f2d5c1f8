#pragma once
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/actions.h"
#include "ui/command_palette.h"
#include "ui/command_pane.h"
#include "ui/context.h"
#include "ui/dialogs.h"
#include "ui/display/interop.h"
#include "ui/hardware_desk.h"
#include "ui/layout.h"
#include "ui/lesson_desk.h"
#include "ui/panel_picture.h"
#include "ui/panels/panel.h"
#include "ui/presenter.h"
#include "ui/preset_dialogs.h"
#include "ui/save_dialog.h"
#include "ui/session_dialog.h"
#include "ui/sweep_desk.h"
#include "ui/toasts.h"
#include "ui/view_state.h"
#include "ui/widgets/value_rail.h"
#include "ui/workers_dialog.h"

namespace attnscope::ui {

class AttentionPanel;
class ErrorPanel;
class MapView;
class ExperimentPanel;
class SourcePanel;
class HistoryPanel;
class LatencyPanel;

struct WorkbenchOptions {
  std::filesystem::path resources;  // contains assets/ and shaders/
  std::filesystem::path user_presets;
  std::filesystem::path own_lessons;  // a folder of lessons; empty: only the shipped ones
  std::filesystem::path results;      // the file in which sweeps store their results; empty: they store none
  std::optional<session::SessionOptions> profiling;  // for workers that read hardware counters; empty: none are read
  // The command that starts the same worker for profiling; empty, or no answer: its counters cannot be read.
  std::function<std::optional<session::WorkerCommand>(session::WorkerCommand)> profiler;
  bool keep_settings = true;  // pass changes of the window's settings to the session
  std::function<void(double)> wake_within = [](double) {};
  std::string program;         // attnscope's own file, for background commands; empty: none are run
  std::function<void()> wake;  // requests a frame, from any thread; empty: frames come without it
  std::function<void()> quit;  // empty: there is no window to close
};

// The whole content of the window, for any owner: a window on a display, a picture without a display, a test. Exists
// within one Dear ImGui context with a current OpenGL context.
class Workbench {
 public:
  Workbench(session::Session& session, WorkbenchOptions options);
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  // Applies the saved theme, zoom and layout. Call before ImGui::NewFrame.
  void before_frame();
  // Draws one frame's content. Call between ImGui::NewFrame and ImGui::Render.
  void draw();

  // Handles a file dropped onto the window: offers to import a .cu file; loads a preset, or adds it to the gallery if
  // that is open.
  void drop(const std::filesystem::path& file);
  void open_panel(const std::string& title);
  // A Failure (Stage::input) lists the existing panels.
  Result<void> show_panel(const std::string& title);
  void show_fragments(int64_t line);                       // in the Source panel
  void show_softmax(const SoftmaxRow& row, int64_t tile);  // in the Source panel
  void reset_layout() { reset_wanted_ = true; }
  // Covers the window with the open lesson's step, or with the shown run, for a projector.
  void present(bool on);
  bool presents() const { return presenter_.is_on(); }
  // A Failure (Stage::input) lists the existing lessons.
  Result<void> open_lesson(const std::string& id);
  LessonDesk& lesson() { return desk_; }
  SweepDesk& sweep() { return sweep_; }
  HardwareDesk& hardware() { return hardware_; }
  // Uses the default layout and settings() instead of the session's saved ones, for pictures and tests.
  void ignore_kept_settings() { adopted_ = reset_wanted_ = true; }
  // Passes on changed settings and unsaved source text at once, because the window closes.
  void keep_settings_now();

  WindowSettings& settings() { return settings_; }
  ViewState& view() { return view_; }
  const DraftTracker& draft() const { return draft_; }
  const Actions& actions() const { return actions_; }
  std::string refusal_of(const std::string& knob) const;  // see ExperimentPanel
  std::optional<RailPlace> rail_of(const std::string& knob) const;
  std::optional<RailPlace> cell_of(const std::string& knob, int64_t value) const;
  const std::string& pressing_notes() const;
  // True if the focus experiment has finished and the shown map is complete (or there is nothing to show).
  bool settled() const { return settled_; }
  double frame_ms() const { return slowest_ms_; }
  const PixelWay& pixels() const { return pixels_; }
  int64_t source_line() const;                            // line last scrolled to; 0: none
  const Baseline& baseline() const { return baseline_; }  // as of the last frame
  uint64_t compared_run() const;                          // id in the history of the run beside the shown one; 0: none
  const CommandPane& command() const { return command_pane_; }
  MapView& map_of(MapKind kind);  // the panel that shows it; for tests

 private:
  void load_assets();
  template <class Wanted>
  void find_panel(Wanted*& wanted);
  void add_actions();
  void adopt_settings(const session::Snapshot& snapshot);
  void keep_settings();
  void pass_settings();
  void follow_history(const session::Snapshot& snapshot);
  void draw_menu(Context& context);
  void draw_presets_menu(Context& context);
  void draw_recent_menu(const session::Snapshot& snapshot);
  void draw_panels(Context& context);
  void draw_content(Context& context);
  void open_palette();
  std::string why_not_pinned() const;
  void set_knob(const Knob& knob, int64_t value);
  void ask(Draft wish, const std::string& change);
  void adopt_view(const session::Snapshot& snapshot);
  void adopt_view(const Json& view);
  void adopt_session(const session::Snapshot& snapshot);
  void bring_to_front();
  bool maps_complete() const;
  bool may_try(const Shown& shown) const;
  Interop* choose_pixel_way(const Shown& shown);
  void settle_layout(unsigned dockspace, bool missing);
  bool closable() const;
  void close_one();
  void note_frame_time(double ms);
  Json view_json() const;
  Json session_json() const;

  session::Session& session_;
  WorkbenchOptions options_;
  std::shared_ptr<const session::Snapshot> snapshot_;
  DraftTracker draft_;
  charts::LatencyChart latency_;
  std::vector<charts::Run> runs_;  // the runs in latency_
  Baseline baseline_;              // points into snapshot_
  Tries tries_;
  Glossary glossary_;
  std::vector<ReportedFigure> reported_;
  std::vector<lesson::Lesson> lessons_;
  LessonDesk desk_;
  HardwareDesk hardware_;
  SweepDesk sweep_;
  Presenter presenter_;
  int uncovers_in_ = 0;  // frames until the panels are drawn again after a presentation
  WindowSettings settings_, kept_settings_;
  bool adopted_ = false, reset_wanted_ = false, settled_ = false;
  // Requested by the user; the last one built for the window's size.
  std::optional<LayoutKind> build_wanted_, built_for_;
  int docks_in_ = 0;    // frames until a newly built layout has docked its panels
  double keep_at_ = 0;  // ImGui time at which changed settings are passed on; 0: none pending
  Actions actions_;
  Dialogs dialogs_;
  PresetDialogs preset_dialogs_;
  std::vector<std::pair<std::string, std::filesystem::path>> recent_;  // in the open menu: name and file
  SessionDialog session_dialog_;
  WorkersDialog workers_dialog_;
  uint64_t adopted_session_ = 0;  // OpenedSession::number
  CommandPane command_pane_;
  SaveDialog save_;
  PanelPicture picture_;
  std::function<void(Context&)> leave_;  // a command that needs the panels' Context; run once, at the frame's end
  Toasts toasts_;
  PixelWay pixels_;
  std::unique_ptr<Interop> interop_;  // outlives the panels
  Interop::State interop_state_ = Interop::State::starting;
  std::vector<std::unique_ptr<Panel>> panels_;
  ErrorPanel* error_panel_ = nullptr;
  AttentionPanel* attention_panel_ = nullptr;
  ExperimentPanel* experiment_panel_ = nullptr;
  SourcePanel* source_panel_ = nullptr;
  HistoryPanel* history_panel_ = nullptr;
  LatencyPanel* latency_panel_ = nullptr;
  std::map<std::string, int> to_front_;  // panels to bring to the front, and in how many frames
  CommandPalette palette_;
  ViewState view_;
  std::shared_ptr<const Json> adopted_view_;                 // of the last loaded preset
  std::array<std::pair<double, double>, 64> frame_times_{};  // ImGui time, ms
  size_t frames_ = 0;
  double slowest_ms_ = 0;
};

}  // namespace attnscope::ui
