#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/panels/panel.h"
#include "ui/widgets/value_rail.h"

namespace attnscope::ui {

// The controls: kernel ladder, knobs with their legal values, problem, compile options, device; and at the bottom, in
// an area of their own, the notes on them.
class ExperimentPanel : public Panel {
 public:
  const char* title() const override { return "Experiment"; }
  Dock dock() const override { return Dock::controls; }
  void draw(Context& context) override;
  // Draws the knobs without the rest of the panel into the current window, and what prevents the config from running.
  void draw_knobs_only(Context& context);
  // Makes that kernel the experiment's, as a click on it does.
  static void choose(Context& context, const std::string& kernel);
  // Why the last pressed value of that knob was refused; empty if it was accepted.
  std::string refusal_of(const std::string& knob) const;
  bool refuses() const { return !refused_.empty(); }
  void drop_refusals() { refused_.clear(); }
  // What prevents the experiment from running, as shown in the last frame; empty if nothing does.
  const std::string& pressing() const { return pressing_; }
  // Where that knob's values were last drawn; empty if they were not.
  std::optional<RailPlace> rail_of(const std::string& knob) const;
  // Where that value was last drawn, if its centre was visible.
  std::optional<RailPlace> cell_of(const std::string& knob, int64_t value) const;

 private:
  struct KnobRow {
    std::string name;
    std::vector<RailValue> values;
  };
  // Why a value is refused, and the settings that would allow it.
  struct Refusal {
    std::string reason, hint;
    std::map<std::string, int64_t> remedy;  // knobs to set together; empty: none known
  };
  struct Drag {
    uint64_t gesture = 0;
    int64_t from = 0;  // the value when the press began
  };

  void draw_kernels(Context& context, const Kernel* kernel);
  void draw_rung(Context& context, const Kernel& rung, const Kernel* chosen, const Result<void>& runs) const;
  static void draw_kernel_combo(Context& context, const Kernel* kernel);
  static void take_kernel(Context& context, const Kernel& rung, const Kernel* from);
  void draw_ladder(Context& context, const Kernel* kernel);
  void draw_others(Context& context, const Kernel* kernel);
  void draw_kernel_failures(const Context& context);
  // experiment_notes.cpp: the bottom of the panel
  static float notes_height(float panel_height);
  static void draw_notes_frame(float height);
  void draw_notes(Context& context, const Kernel* kernel);
  std::string pressing_notes(const Context& context) const;
  static const Failure* live_failure(const Context& context);
  bool told_by_failure(const Context& context) const;
  bool draw_preset_note(const Context& context);
  static void draw_failure(Context& context);
  void draw_refusals(Context& context, const Kernel& kernel);
  bool draw_remedy(Context& context, const Kernel& kernel, const char* id, const Refusal& refusal);
  static bool invites(const Context& context);
  void draw_invitation(Context& context, const Kernel& kernel);

  void draw_knobs(Context& context, const Kernel& kernel);
  void draw_knob(Context& context, const Kernel& kernel, const KnobRow& row);
  static void draw_scan_button(Context& context, const Knob& knob, const Scan* scan, float height);
  void reset_knob(Context& context, const Kernel& kernel, const Knob& knob, const KnobRow& row);
  void draw_problem(Context& context, const Kernel* kernel);
  void draw_sizes(Context& context);
  void draw_own_sizes(Context& context);
  static void draw_compile(Context& context);
  static void draw_device(Context& context);
  void refresh_rows(const Context& context, const Kernel& kernel);
  void refuse(const Context& context, const Kernel& kernel, const std::string& knob, const RailValue& value);
  bool size_field(Context& context, const char* label, int64_t& value, float width);

  std::vector<KnobRow> rows_;
  std::string rows_of_;                // identifies the inputs that rows_ was built from
  std::vector<std::string> warnings_;  // of the current config
  std::optional<Refusal> illegal_;     // why the current config cannot run
  std::map<std::string, RailPlace> rails_;
  std::map<std::string, std::vector<std::pair<int64_t, RailPlace>>> cells_;  // the visible ones
  std::map<std::string, Drag> drags_;
  std::map<std::string, Refusal> refused_;     // knob → why the pressed value is refused
  std::map<std::string, std::string> edited_;  // contents of size fields while a person types
  bool others_open_ = false, failures_open_ = false;
  std::string note_closed_;  // path of the preset whose note was dismissed
  std::string pressing_;     // the first note of the last frame; a new one is scrolled into view
};

}  // namespace attnscope::ui
