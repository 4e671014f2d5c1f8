#pragma once
#include <string>

#include "core/sm_timeline.h"
#include "ui/panels/panels.h"
#include "ui/theme.h"

namespace attnscope::ui {

// The model's simulation of the shown run over time: the CTAs of every SM, and what the warps of one do. It is asked
// for while the panel is in sight, so that other runs do not pay for it.
class TimelinePanel : public Panel {
 public:
  const char* title() const override { return kTimelineTitle; }
  Dock dock() const override { return Dock::below; }
  void draw(Context& context) override;
  const TimelineAsk& asked() const { return ask_; }

 private:
  struct Box;  // of a picture: its corner and size in pixels, and the clocks from its left to its right

  void take(Context& context);
  void choose_launch(const Context& context, const SmTimeline& timeline);
  void draw_controls(Context& context, const SmTimeline& timeline);
  void draw_legend(const SmTimeline& timeline) const;
  void draw_ctas(const SmTimeline& timeline, ImVec2 size);
  void draw_warps(const SmTimeline& timeline, ImVec2 size);
  void draw_warp(const SmTimeline& drawn, size_t warp, const Box& box) const;
  void hover_warps(const SmTimeline& timeline, const Box& box);
  void zoom(const SmTimeline& timeline, double factor);
  void show_clocks(double from, double to);

  TimelineAsk ask_;
  std::string of_;                     // the experiment's hash
  session::Shared<Observation> seen_;  // whose hash it is
  session::Shared<Listing> listing_;   // of ask_, or of what was asked before while it is on its way
  session::Shared<Listing> drawn_of_;
  SmTimeline drawn_;  // of drawn_of_, in columns that can be drawn
  std::string missing_;
  bool waits_ = false;
  bool warps_leave_ = false;  // the right click was on the warps
  double dragged_from_ = -1;  // clock; below 0: nothing is dragged
};

}  // namespace attnscope::ui
