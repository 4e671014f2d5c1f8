#pragma once
#include <string>

#include "core/sm_timeline.h"
#include "ui/panels/panels.h"
#include "ui/theme.h"

namespace attnscope::ui {

// The shown run over time: the CTAs of every SM, and what the warps of one SM do. The model's simulation is requested
// while the panel is visible, so that other runs do not pay for it; a GPU's own clocks only when a person asks for
// them, because an instrumented twin is launched for them. The model's CTAs stay beside the measured ones.
class TimelinePanel : public Panel {
 public:
  const char* title() const override { return kTimelineTitle; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;

 private:
  struct Box;  // a picture's corner and size in pixels, and the clocks at its left and right edges

  // The simulation, or the clocks of a GPU.
  struct Kind {
    TimelineAsk ask;
    session::Shared<Listing> listing;  // of ask, or of what was asked before while it is on its way
    std::string missing;
    bool waits = false;
  };

  Kind& now() { return clocked_ ? clocks_ : model_; }
  // A's whole time of the same SM, simulated or by the GPU's clocks; null if it is not there.
  const SmTimeline* ghost(bool clocked) const {
    const Kind& a = clocked ? clocks_a_ : model_a_;
    return a.listing != nullptr ? &*a.listing->timeline : nullptr;
  }
  void take(Context& context);
  void take_ghosts(Context& context);
  void take_ghost(Context& context, Kind& a, const Kind& b);
  std::string words_of_a() const;
  static void look_for(Context& context, Kind& kind, const Experiment& experiment, const std::string& hash);
  void choose_kind();
  void choose_launch(const Context& context, const SmTimeline& timeline);
  void draw_controls(Context& context, const SmTimeline& timeline);
  void draw_legend(const SmTimeline& timeline) const;
  void draw_pictures(const SmTimeline& timeline);
  void draw_ctas(const SmTimeline& timeline, ImVec2 size, double end);
  static void draw_ghost_end(const SmTimeline& a, const Box& box, float height);
  void draw_both_ctas(const SmTimeline& timeline, ImVec2 size);
  void draw_warps(const SmTimeline& timeline, ImVec2 size);
  void draw_warp(const SmTimeline& drawn, size_t warp, const Box& box) const;
  void draw_spans(const SmTimeline& timeline, const Box& box) const;
  void drag_warps(const Box& box, bool hovered);
  std::string warp_words(const SmTimeline& timeline, size_t warp, double clock) const;
  void zoom(const SmTimeline& timeline, double factor);
  void show_clocks(double from, double to);
  void show_all() { now().ask.from = now().ask.to = 0; }

  Kind model_, clocks_;
  Kind model_a_, clocks_a_;              // of A's run
  std::string of_a_;                     // its experiment's hash
  const Observation* seen_a_ = nullptr;  // the observation that of_a_ belongs to; only compared
  bool clocked_ = false;                 // the GPU's clocks are shown
  std::string of_;                       // experiment hash
  session::Shared<Observation> seen_;    // the observation that of_ belongs to
  session::Shared<Listing> drawn_of_;
  SmTimeline drawn_;          // drawn_of_ in the columns that are drawn
  bool warps_leave_ = false;  // the export menu belongs to the warps
  double dragged_from_ = -1;  // in clocks; negative: no drag
};

}  // namespace attnscope::ui
