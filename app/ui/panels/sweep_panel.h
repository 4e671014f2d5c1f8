#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/panel.h"
#include "ui/panels/trial_plots.h"
#include "ui/sweep_desk.h"

namespace attnscope::ui {

// Which part of a sweep is shown.
enum class SweepView { setup, scatter, parallel, trials, excluded };

// A sweep: what it will try, its progress, and its trials as plots and as a table.
class SweepPanel : public Panel {
 public:
  const char* title() const override { return "Sweep"; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;

 private:
  void draw_controls(Context& context, const SweepPreview* preview);
  void draw_progress(const sweep::Job& job, const sweep::JobState& state);
  void choose_view(size_t excluded);
  void draw_setup(Context& context, const SweepPreview* preview);
  void draw_knob(const Knob& knob, const Config& held, SweepWishes& wishes);
  void draw_option(const char* name, std::string_view title, const Config& held, SweepWishes& wishes);
  // A row of checkboxes. Returns true if "current" was pressed, so that the value follows the experiment's.
  bool draw_ticks(const char* name, const std::string& about, const std::vector<KnobValue>& values,
                  std::set<int64_t>& ticked);
  void draw_how(SweepWishes& wishes);
  void draw_workers(const Context& context, const SweepPreview* preview, SweepWishes& wishes);
  void draw_trials(Context& context, const sweep::Job& job);
  void draw_table(Context& context, const sweep::Job& job);
  void draw_excluded(const std::vector<search::Excluded>& excluded, const Kernel& kernel, const Config& held);
  void open(Context& context, const sweep::Job& job, size_t row);

  SweepView view_ = SweepView::setup;
  uint64_t seen_ = 0;                             // the number of the last sweep that was drawn
  std::shared_ptr<const sweep::JobState> state_;  // in this frame; null: there is no sweep yet
  BrushedTrials brushed_;                         // of state_
  ScatterPlot scatter_;
  ParallelPlot parallel_;
};

}  // namespace attnscope::ui
